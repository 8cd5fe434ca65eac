/**
 * The command line's controls as an operator runs them: `sluice pause`, `limits` and the others as processes of their own, with a
 * service token through a real console, and without one on the region's database. Both ways must say the same; only who did it
 * may differ, and what a token may not do must never be done the other way.
 */
import { execFile } from "node:child_process";
import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import { toPublicId } from "#domain/ids.ts";
import type { Action, Role } from "#domain/permissions.ts";
import { findFreePort } from "#scripts/lib/embedded-postgres.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { childEnvironment } from "./config.ts";
import { clientOf } from "./support/accounts.ts";
import { addCustomer, type Customer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REGION = "us";
const REASON = "A browser test steers by command";
const CHANGE = ["--region", REGION, "--reason", REASON];
const LONG_MS = 240_000;
const COMMAND_MS = 60_000;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

type Env = Readonly<Record<string, string>>;

function sluice(env: Env, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["cli/sluice.ts", ...args],
      // An `up` of this clone is none of its business.
      {
        cwd: ROOT,
        env: childEnvironment({ SLUICE_DATA_DIR: "/nonexistent", ...env }),
        timeout: COMMAND_MS,
      },
      (error, out, errors) =>
        resolve({
          code: error === null ? 0 : Number(error.code ?? -1),
          out: out.trim(),
          errors: errors.trim(),
        }),
    );
  });
}

async function tokenOf(
  world: World,
  name: string,
  role: Role,
  scopes: readonly Action[],
): Promise<{ env: Env; actor: string }> {
  const admin = await clientOf(world, world.accounts.admin);
  const made = await admin.post("/api/v1/tokens", {
    data: { name, role, scopes, regions: [REGION], days: 1, reason: REASON },
  });
  expect(made.status(), await made.text()).toBe(201);
  const { token } = (await made.json()) as { token: string };
  await admin.dispose();
  return { env: { SLUICE_CONSOLE_URL: world.consoleUrl, SLUICE_TOKEN: token }, actor: `token:${name}` };
}

/** The way for a night on which the console is down. */
const byDatabase = (world: World): Env => ({ DATABASE_URL_US: world.config.urls.us, SLUICE_TOKEN: "" });

const ten = ({ tenantId }: Customer) => toPublicId("ten", tenantId);
const dst = ({ destinationId }: Customer) => toPublicId("dst", destinationId);

async function auditOf(world: World, target: string) {
  const rows = await readAudit(world.regions[REGION], target);
  return rows.map(({ action, result, actor }) => [action, result, actor]);
}

/** The last words of each line: the version and the audit's row. */
const stamp = (version: number) => `\\(version ${version}, audit aud_[0-9a-f]{32}\\)$`;

test("CTL-1 CTL-4 with a token the command line pauses, resumes and lowers as that token, and says what it says without one", async ({
  world,
}) => {
  test.setTimeout(LONG_MS);
  const customer = await addCustomer(world, REGION, "Commanded Bank", "/ok/commanded");
  const { slug } = customer;
  const { env, actor } = await tokenOf(world, `cli-operator-${Date.now()}`, "operator", [
    "read",
    "pause",
    "limits",
    "retry_now",
    "cancel",
  ]);
  const paused = await sluice(env, "pause", "tenant", slug, "--for", "1h", "--ticket", "OPS-7", ...CHANGE);
  expect(paused).toMatchObject({ code: 0, errors: "" });
  expect(paused.out).toMatch(new RegExp(`^us: tenant ${slug} is paused until 20\\S+Z ${stamp(2)}`));
  expect(paused.out).not.toContain(String(env.SLUICE_TOKEN));

  // Held by the pause, so that it can be cancelled before it is sent.
  const { id } = await enqueue(world, REGION, customer, { key: `${slug}-one` });
  expect(await sluice(env, "delivery", "retry", id, ...CHANGE)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("has not been tried yet"),
  });
  expect((await sluice(env, "delivery", "cancel", id, ...CHANGE)).out).toContain(`${id} is cancelled`);
  expect(await auditOf(world, id)).toEqual([
    ["delivery.retry_now", "conflict", actor],
    ["delivery.cancel", "done", actor],
  ]);

  const resumed = await sluice(env, "resume", "tenant", ten(customer), ...CHANGE);
  expect(resumed.out).toMatch(
    new RegExp(`^us: tenant ${slug} is resumed; what has piled up begins at 20 % ${stamp(3)}`),
  );
  const place = `${slug}/Ledger`;
  const lower = ["limits", "destination", place, "--concurrency"];
  const lowered = await sluice(env, ...lower, "4", ...CHANGE);
  expect(lowered.out).toMatch(new RegExp(`^us: destination ${place}: concurrency 4, no rate ${stamp(2)}`));
  expect(await sluice(env, ...lower, "3", "--if-version", "1", ...CHANGE)).toEqual({
    code: 1,
    out: "",
    errors: expect.stringMatching(/^sluice: .*changed by someone else: version 1 was seen, it is 2 now$/),
  });
  expect(await auditOf(world, ten(customer))).toEqual([
    ["tenant.pause", "done", actor],
    ["tenant.resume", "done", actor],
  ]);
  expect(await auditOf(world, dst(customer))).toEqual([
    ["destination.limits", "done", actor],
    ["destination.limits", "conflict", actor],
  ]);
  for (const words of [
    ["limits", "tenant", slug],
    ["limits", "destination", place],
    ["limits", "--region-defaults", "--json"],
  ]) {
    const shown = await sluice(env, ...words, "--region", REGION);
    expect(shown).toMatchObject({ code: 0, errors: "" });
    expect(shown).toEqual(await sluice(byDatabase(world), ...words, "--region", REGION));
  }
});

test("CTL-1 a viewer's token is refused, also while it has the database; a console that is down leaves the other way to who leaves the token out", async ({
  world,
}) => {
  test.setTimeout(LONG_MS);
  const customer = await addCustomer(world, REGION, "Guarded Bank", "/reject/400/guarded");
  const { slug } = customer;
  const pause = ["pause", "tenant", slug, "--for", "1h", ...CHANGE];
  const viewer = await tokenOf(world, `cli-viewer-${Date.now()}`, "viewer", ["read"]);
  const withBoth = { ...byDatabase(world), ...viewer.env };
  expect(await sluice(withBoth, ...pause)).toEqual({
    code: 1,
    out: "",
    errors: expect.stringMatching(/^sluice: Needs the role support or operator or admin\b.*$/),
  });
  expect(await auditOf(world, ten(customer))).toEqual([["tenant.pause", "denied", viewer.actor]]);

  const down = `http://127.0.0.1:${await findFreePort()}`;
  expect(await sluice({ ...withBoth, SLUICE_CONSOLE_URL: down }, ...pause)).toEqual({
    code: 1,
    out: "",
    errors: expect.stringMatching(
      /does not answer \(ECONNREFUSED\); without SLUICE_TOKEN the command goes to/,
    ),
  });
  const direct = await sluice({ ...byDatabase(world), SLUICE_CONSOLE_URL: down }, ...pause);
  expect(direct.out).toMatch(new RegExp(`^us: tenant ${slug} is paused until 20\\S+Z ${stamp(2)}`));
  expect((await auditOf(world, ten(customer))).at(-1)).toEqual([
    "tenant.pause",
    "done",
    `cli:${userInfo().username}`,
  ]);
});

test("DLQ-1 a dead letter is marked by command, once", async ({ world }) => {
  test.setTimeout(LONG_MS);
  const customer = await addCustomer(world, REGION, "Marked Bank", "/reject/400/marked");
  const { id, uuid } = await enqueue(world, REGION, customer, { key: `${customer.slug}-one` });
  const { pool } = world.regions[REGION];
  const dead = () => pool.query("SELECT 1 FROM sluice.dead_letter WHERE id = $1", [uuid]);
  await expect.poll(async () => (await dead()).rowCount, { timeout: COMMAND_MS }).toBe(1);
  const { env, actor } = await tokenOf(world, `cli-support-${Date.now()}`, "support", [
    "read",
    "will_not_replay",
  ]);
  const mark = ["delivery", "will-not-replay", id, ...CHANGE];
  expect((await sluice(env, ...mark)).out).toContain(`${id} will not be replayed`);
  expect(await sluice(env, ...mark)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("it was said already"),
  });
  expect(await auditOf(world, id)).toEqual([
    ["dead_letter.will_not_replay", "done", actor],
    ["dead_letter.will_not_replay", "conflict", actor],
  ]);
});
