/**
 * The replay drill as its operator runs it: `sluice rehearse replay` as a process of its own, against a real console, workers and
 * receiver, as two service tokens. Its result is a file, and what it says is what the rows and the report say.
 */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { RehearsalResult } from "#cli/rehearse/result.ts";
import { LOCAL_SENDING_SETTINGS } from "#db/sending-rules-config.ts";
import type { Action, Role } from "#domain/permissions.ts";
import { childEnvironment } from "./config.ts";
import { clientOf } from "./support/accounts.ts";
import { quickReplays } from "./support/replay-policy.ts";
import { expect, test, type World } from "./support/world.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LONG_MS = 240_000;
const DRILL_MS = 180_000;

async function tokenOf(world: World, name: string, role: Role, scopes: readonly Action[]): Promise<string> {
  const admin = await clientOf(world, world.accounts.admin);
  const made = await admin.post("/api/v1/tokens", {
    data: { name, role, scopes, regions: ["eu"], days: 1, reason: "A browser test rehearses a replay" },
  });
  expect(made.status(), await made.text()).toBe(201);
  const { token } = (await made.json()) as { token: string };
  await admin.dispose();
  return token;
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

function sluice(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["cli/sluice.ts", ...args],
      { cwd: ROOT, env: childEnvironment(env), timeout: DRILL_MS },
      (error, out, errors) => resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, errors }),
    );
  });
}

test("PROOF-7 the replay drill: 80 of 120 delivered once under their first ids, the failing lane stopped, and it is on record", async ({
  world,
}, testInfo) => {
  test.setTimeout(LONG_MS);
  await quickReplays(world, "eu");
  // The drill creates destinations on this machine, which a console otherwise refuses.
  const desk = await world.startConsole(world.config.urls, LOCAL_SENDING_SETTINGS);
  try {
    const run = `${Date.now()}`;
    const dataDir = testInfo.outputPath("data");
    const { code, out, errors } = await sluice(["rehearse", "replay", "--region", "eu", "--json"], {
      SLUICE_CONSOLE_URL: desk.url,
      SLUICE_RECEIVER_URL: world.receiver.url,
      SLUICE_DATA_DIR: dataDir,
      SLUICE_TOKEN: await tokenOf(world, `drill-author-${run}`, "admin", [
        "read",
        "configure",
        "enqueue",
        "test_event",
        "will_not_replay",
        "replay_draft",
        "replay_approve",
        "replay_stop",
      ]),
      SLUICE_REVIEWER_TOKEN: await tokenOf(world, `drill-reviewer-${run}`, "operator", [
        "read",
        "replay_approve",
        "replay_start",
      ]),
    });
    expect(code, errors).toBe(0);
    const result = JSON.parse(out) as RehearsalResult;
    expect(result).toMatchObject({ passed: true, failure: null, region: "eu", rehearsal: "replay" });
    expect(result.checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(result.checks).toHaveLength(8);
    expect(result.counts).toMatchObject({ delivered: 80, frozen: 0, released: 0, selected: 0 });
    expect(result.people.author).not.toBe(result.people.reviewer);
    const [file = ""] = readdirSync(path.join(dataDir, "rehearsals"));
    expect(JSON.parse(readFileSync(path.join(dataDir, "rehearsals", file), "utf8"))).toEqual(result);
    expect(`${out}${errors}`).not.toContain("sluice_");
    await sameInTheRows(world, result);
  } finally {
    await desk.stop();
  }
});

/** Not by the drill's word: the batch's own rows, and what is left of its dead letters. */
async function sameInTheRows(world: World, { batchId, sha256 }: RehearsalResult): Promise<void> {
  const { pool } = world.regions.eu;
  const uuid = "replace(b.id::text, '-', '') = substr($1, 5)";
  const batch = await pool.query(
    `SELECT b.state, b.approved_by <> b.requested_by AS two, encode(b.frozen_sha256, 'hex') AS sha256
       FROM sluice.replay_batch b WHERE ${uuid}`,
    [batchId],
  );
  expect(batch.rows).toEqual([{ state: "completed", two: true, sha256 }]);
  const items = await pool.query<{ state: string; dead: boolean; marked: boolean; n: number }>(
    `SELECT i.state, d.id IS NOT NULL AS dead, d.will_not_replay_at IS NOT NULL AS marked, count(*)::integer AS n
       FROM sluice.replay_batch b JOIN sluice.replay_item i ON i.batch_id = b.id LEFT JOIN sluice.dead_letter d ON d.id = i.delivery_id
      WHERE ${uuid} GROUP BY 1, 2, 3`,
    [batchId],
  );
  const of = (wanted: (row: { state: string; dead: boolean; marked: boolean }) => boolean) =>
    items.rows.filter(wanted).reduce((sum, { n }) => sum + n, 0);
  expect(of(({ state, dead }) => state === "delivered" && !dead)).toBe(80);
  // All 40 of the failing destination are dead letters still, and said not to be work any more.
  expect(of(({ dead, marked }) => dead && marked)).toBe(40);
  expect(of(() => true)).toBe(120);
}
