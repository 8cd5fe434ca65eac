/**
 * `sluice secrets status|rekey`: which keys seal the signing secrets of a region, and sealing them anew under the newest
 * one. It prints ids and counts; it must never print a secret or a key.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { parseArgs } from "node:util";
import type { Pool } from "pg";
import { readRegionUrl } from "#db/config.ts";
import { rekeyRegion } from "#db/console/commands/rekey-secrets.ts";
import { createPool } from "#db/pool.ts";
import { assertRegion } from "#db/regions.ts";
import { readKeyring } from "#db/secrets-config.ts";
import { readSealingKeys } from "#db/secrets-rekey.ts";
import { uuidV7 } from "#domain/ids.ts";
import { isRegion, parseRegion, type Region } from "#domain/region.ts";
import { type Command, UsageError } from "../command.ts";

const help = `Usage: sluice secrets <status|rekey> --region <us|eu> [--reason <text>] [--json]

status   how many destinations' secrets each key seals, and whether SLUICE_SECRET_KEYS has that key
rekey    seal every secret anew under the first key of SLUICE_SECRET_KEYS; workers may run, it can be run again

To change the key: add the new one at the end of SLUICE_SECRET_KEYS everywhere and restart; move it to the front and
restart; rekey both regions; when status shows only the new key, remove the old one. docs/security.md has the reasons.

  --region <us|eu>   the region of the database
  --reason <text>    kept in the audit (default: "sealing key changed")
  --json             print one JSON object`;

const POOL_MAX = 2;
const DEFAULT_REASON = "sealing key changed";

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      region: { type: "string" },
      reason: { type: "string", default: DEFAULT_REASON },
      json: { type: "boolean", default: false },
    },
  });
  const [verb, ...rest] = positionals;
  if ((verb !== "status" && verb !== "rekey") || rest.length > 0) throw new UsageError("say status or rekey");
  if (values.region === undefined) throw new UsageError("--region is missing");
  if (!isRegion(values.region.toLowerCase())) throw new UsageError("--region must be us or eu");
  const region = parseRegion(values.region);
  const pool = createPool({
    connectionString: readRegionUrl(region),
    max: POOL_MAX,
    applicationName: `sluice-secrets-${region}`,
  });
  try {
    await assertRegion(pool, region);
    return verb === "status"
      ? await status(pool, values.json)
      : await rekey(pool, region, values.reason, values.json);
  } finally {
    await pool.end();
  }
}

/** Exit code 1 when a key that is in use is missing. */
async function status(pool: Pool, json: boolean): Promise<number> {
  const keyring = readKeyring();
  const keys = (await readSealingKeys(pool)).map((key) => ({
    ...key,
    known: keyring.keys.has(key.keyId),
    current: key.keyId === keyring.current,
  }));
  if (json) console.log(JSON.stringify({ current: keyring.current, keys }));
  else if (keys.length === 0) console.log("no destination has a secret yet");
  for (const { keyId, destinations, known, current } of json ? [] : keys) {
    const word = current ? "current" : known ? "known" : "MISSING from SLUICE_SECRET_KEYS";
    console.log(`${keyId}  ${destinations} destinations  ${word}`);
  }
  return keys.every(({ known }) => known) ? 0 : 1;
}

/** Exit code 1 when secrets are left that could not be sealed anew. */
async function rekey(pool: Pool, region: Region, reason: string, json: boolean): Promise<number> {
  const result = await rekeyRegion(
    {
      region,
      pool,
      keyring: readKeyring(),
      actor: `cli:${userInfo().username}`,
      role: "admin",
      correlationId: randomUUID(),
      newId: () => uuidV7(Date.now(), randomBytes),
    },
    { reason },
    (sealed) => {
      if (!json) console.log(`${sealed} sealed anew`);
    },
  );
  if (json) console.log(JSON.stringify(result));
  else {
    console.log(`${region}: ${result.sealed} destinations sealed anew under key "${result.keyId}"`);
    if (result.left > 0) console.log(`${result.left} changed meanwhile: run it again`);
    if (result.unreadable > 0) {
      const ids = result.unreadableIds.join(", ");
      console.log(
        `${result.unreadable} cannot be opened with these keys and need a new secret or the old key: ${ids}`,
      );
    }
  }
  return result.left + result.unreadable === 0 ? 0 : 1;
}

export default { help, run } satisfies Command;
export { help, run };
