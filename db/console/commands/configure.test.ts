/** Creating and changing tenants and destinations: once, audited, with a secret that stands nowhere but in one answer. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDestinations } from "#db/queue/configuration.ts";
import { cancelDeleted } from "#db/queue/reconcile.ts";
import { openSecret } from "#db/secrets.ts";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { STRICT_RULES } from "#domain/destination-url.ts";
import { isSluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { contextOf, destinationId, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant, TEST_KEYRING } from "#tests/support/factories.ts";
import { formsOf, tablesWith } from "#tests/support/search-rows/sql.ts";
import type { ConfigureContext } from "./configure.ts";
import { createDestination } from "./create-destination.ts";
import { createTenant } from "./create-tenant.ts";
import { deleteDestination } from "./delete-destination.ts";
import { updateDestination } from "./update-destination.ts";
import { updateTenant } from "./update-tenant.ts";

const PATH = "path-marker-c41d";
const URL_TEXT = `https://hooks.example.com/${PATH}?key=${PATH}`;

let database: TestDatabase;
let owner: string;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = tenantId(await makeTenant(database.pool));
});
afterAll(() => database.drop());

function context(changes: Partial<ConfigureContext> = {}): ConfigureContext {
  return {
    ...contextOf(database, { role: "admin" }),
    keyring: TEST_KEYRING,
    rules: STRICT_RULES,
    ...changes,
  };
}

function keyOf(key: string, request: string) {
  return { idempotency: { key, requestSha256: createHash("sha256").update(request).digest() } };
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((caught: unknown) => caught);
  if (!isSluiceError(error)) throw new Error(`not refused: ${String(error)}`);
  return `${error.code}: ${error.detail}`;
}

async function rowOf(table: "tenant" | "destination", id: string): Promise<Record<string, unknown>> {
  const uuid = fromPublicId(table === "tenant" ? "ten" : "dst", id);
  const { rows } = await database.pool.query(`SELECT * FROM sluice.${table} WHERE id = $1`, [uuid]);
  return rows[0];
}

describe("tenants", () => {
  it("are created with their audit row, and a slug is given once", async () => {
    const made = await createTenant(context(), { slug: "northwind", name: " Northwind ", reason: REASON });
    expect(made).toMatchObject({
      version: 1,
      applied: true,
      after: { slug: "northwind", name: "Northwind" },
    });
    expect(await rowOf("tenant", made.id)).toMatchObject({
      region: "us",
      weight: 1,
      concurrency_limit: null,
    });
    expect(await readAudit(database, made.id)).toMatchObject([
      { action: "tenant.create", actor_role: "admin", reason: REASON, result: "done", before: {} },
    ]);
    const again = createTenant(context(), { slug: "northwind", name: "Other", reason: REASON });
    expect(await refusal(again)).toBe("state_conflict: the slug northwind is taken in this region");
  });

  it("fault 97 the same request again is the same tenant, not a second one", async () => {
    const input = { slug: "twice", name: "Twice", reason: REASON };
    const first = await createTenant(context(keyOf("key-ten", "a")), input);
    const second = await createTenant(context(keyOf("key-ten", "a")), input);
    expect(second).toMatchObject({ id: first.id, auditId: first.auditId, replayed: true });
    const other = createTenant(context(keyOf("key-ten", "b")), { ...input, slug: "another" });
    expect(await refusal(other)).toMatch(/^idempotency_mismatch/);
  });

  it("are renamed by version, and a stale version changes nothing", async () => {
    const { id } = await createTenant(context(), { slug: "renamed", name: "Before", reason: REASON });
    const done = await updateTenant(context(), { tenantId: id, version: 1, name: "After", reason: REASON });
    expect(done).toMatchObject({ version: 2, before: { name: "Before" }, after: { name: "After" } });
    const header = await updateTenant(context(), {
      tenantId: id,
      version: 2,
      replayHeader: true,
      reason: REASON,
    });
    expect(header).toMatchObject({
      version: 3,
      before: { replayHeader: false },
      after: { replayHeader: true },
    });
    await expect(updateTenant(context(), { tenantId: id, version: 3, reason: REASON })).rejects.toMatchObject(
      {
        code: "invalid_body",
      },
    );
    const stale = updateTenant(context(), { tenantId: id, version: 1, name: "Late", reason: REASON });
    expect(await refusal(stale)).toMatch(/^version_conflict/);
    expect(await rowOf("tenant", id)).toMatchObject({ name: "After", slug: "renamed" });
  });

  it.each([
    [{ slug: "Has Space", name: "x" }, /^invalid_body: slug/],
    [{ slug: "ok", name: "a\u0007b" }, /^invalid_body: name/],
    [{ slug: "ok", name: " " }, /^invalid_body: name/],
    [{ slug: "ok", name: "x", concurrencyLimit: 0 }, /^bad_limit: .*use pause/],
    [{ slug: "ok", name: "x", colour: "blue" }, /^invalid_body/],
  ])("CTL-2 %o is refused", async (input, expected) => {
    expect(await refusal(createTenant(context(), { reason: REASON, ...input }))).toMatch(expected);
  });
});

describe("creating a destination", () => {
  it("reveals its secret once and seals it; no table holds it, nor does the audit hold the path", async () => {
    const made = await createDestination(context(), {
      tenantId: owner,
      name: "Ledger",
      url: URL_TEXT,
      reason: REASON,
      ratePerSecond: 2.5,
    });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [row] = await readDestinations(database.pool, [fromPublicId("dst", made.id)]);
    expect(row).toMatchObject({ url: URL_TEXT, version: 1 });
    expect(openSecret(TEST_KEYRING, row?.secretCurrent as Buffer)).toBe(made.secret);
    const secret = made.secret ?? "";
    expect(await tablesWith(database.pool, formsOf(secret))).toEqual([]);
    const audit = await readAudit(database, made.id);
    expect(audit).toMatchObject([
      {
        action: "destination.create",
        after: {
          host: "hooks.example.com",
          url: "https://hooks.example.com/•••?•••",
          ratePerSecond: 2.5,
          rateBurst: 1,
        },
      },
    ]);
    for (const marker of [PATH, secret]) expect(JSON.stringify([audit, made.after])).not.toContain(marker);
  });

  it("told again it names the same row, and the secret stays in the first answer", async () => {
    const input = { tenantId: owner, name: "Repeated", url: URL_TEXT, reason: REASON };
    const first = await createDestination(context(keyOf("key-dst", "a")), input);
    const second = await createDestination(context(keyOf("key-dst", "a")), input);
    expect(first.secret).not.toBeNull();
    expect(second).toMatchObject({ id: first.id, secret: null, replayed: true });
    const { rows } = await database.pool.query(
      "SELECT answer::text FROM sluice.api_idempotency WHERE idempotency_key = 'key-dst'",
    );
    for (const marker of [first.secret ?? "", PATH]) expect(rows[0].answer).not.toContain(marker);
  });

  it("refuses what workers would refuse: plain http, private addresses, credentials; and says nothing of the path", async () => {
    for (const url of [
      `http://hooks.example.com/${PATH}`,
      `https://169.254.169.254/${PATH}`,
      `https://user:${PATH}@hooks.example.com/`,
      `file:///${PATH}`,
    ]) {
      const text = await refusal(
        createDestination(context(), { tenantId: owner, name: "Refused", url, reason: REASON }),
      );
      expect(text).toMatch(/^bad_destination_url: /);
      expect(text).not.toContain(PATH);
    }
    const local = { tenantId: owner, name: "Local", url: "http://127.0.0.1:9000/in", reason: REASON };
    expect(await createDestination(context({ rules: LOCAL_SENDING_RULES }), local)).toMatchObject({
      version: 1,
    });
  });

  it("refuses a name that the tenant uses, also when both come at once, and a tenant that is not there", async () => {
    const input = { tenantId: owner, name: "Same name", url: URL_TEXT, reason: REASON };
    const both = await Promise.allSettled([
      createDestination(context(), input),
      createDestination(context(), input),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(
      await refusal(createDestination(context(), { ...input, tenantId: `ten_${"0".repeat(32)}` })),
    ).toMatch(/^not_found/);
  });

  it("refuses a policy that could not be used: every delivery would be a dead letter", async () => {
    const input = { tenantId: owner, name: "Policy", url: URL_TEXT, reason: REASON };
    const tooLong = createDestination(context(), { ...input, policyOverride: { requestDeadlineMs: 60_000 } });
    expect(await refusal(tooLong)).toMatch(/^lease_too_short/);
    const made = await createDestination(context(), { ...input, policyOverride: { maxFailures: 3 } });
    expect((await rowOf("destination", made.id)).policy_override).toEqual({ maxFailures: 3 });
  });
});

describe("changing a destination", () => {
  async function place(name: string) {
    return createDestination(context(), { tenantId: owner, name, url: URL_TEXT, reason: REASON });
  }

  it("changes what is named and keeps the rest; a new URL raises the version that workers look at", async () => {
    const { id } = await place("Moves");
    const done = await updateDestination(context(), {
      destinationId: id,
      version: 1,
      url: "https://hooks.example.com/other",
      plainSignatureHeader: "x-signature",
      reason: REASON,
    });
    expect(done).toMatchObject({
      version: 2,
      before: { name: "Moves" },
      after: { urlChanged: true, name: "Moves" },
    });
    expect(JSON.stringify(done)).not.toContain("other");
    const [row] = await readDestinations(database.pool, [fromPublicId("dst", id)]);
    expect(row).toMatchObject({
      version: 2,
      url: "https://hooks.example.com/other",
      plainSignatureHeader: "x-signature",
    });
    const cleared = await updateDestination(context(), {
      destinationId: id,
      version: 2,
      plainSignatureHeader: null,
      reason: REASON,
    });
    expect(cleared).toMatchObject({ after: { urlChanged: false, plainSignatureHeader: null } });
  });

  it("refuses nothing to change, a taken name, a stale version and a URL that is not allowed", async () => {
    const { id } = await place("Stays");
    await place("Taken");
    const input = { destinationId: id, version: 1, reason: REASON };
    expect(await refusal(updateDestination(context(), input))).toMatch(/name at least one field/);
    expect(await refusal(updateDestination(context(), { ...input, name: "Taken" }))).toMatch(
      /^state_conflict/,
    );
    expect(await refusal(updateDestination(context(), { ...input, version: 9, name: "New" }))).toMatch(
      /^version_conflict/,
    );
    expect(await refusal(updateDestination(context(), { ...input, url: "https://10.0.0.1/x" }))).toMatch(
      /^bad_destination_url/,
    );
    expect(await rowOf("destination", id)).toMatchObject({ name: "Stays", version: 1, url: URL_TEXT });
  });
});

describe("deleting a destination", () => {
  it("needs its name typed, marks the row, and workers cancel what waits", async () => {
    const tenant = await makeTenant(database.pool);
    const uuid = await makeDestination(database.pool, tenant);
    const id = destinationId(uuid);
    const { name } = await rowOf("destination", id);
    await makeDeliveries(database.pool, { tenantId: tenant, destinationId: uuid, count: 3 });
    const input = { destinationId: id, version: 1, reason: REASON };
    expect(await refusal(deleteDestination(context(), { ...input, confirmName: "other" }))).toMatch(
      /^state_conflict: the name that was typed/,
    );
    const done = await deleteDestination(context(), { ...input, confirmName: String(name) });
    expect(done).toMatchObject({ version: 2, applied: true, after: { deleted: true } });
    expect(await cancelDeleted(database.pool)).toBe(3);
    const { rows } = await database.pool.query(
      "SELECT state, reason FROM sluice.delivery_archive WHERE destination_id = $1",
      [uuid],
    );
    expect(rows).toEqual(Array(3).fill({ state: "cancelled", reason: "destination_deleted" }));
    expect(
      await refusal(deleteDestination(context(), { ...input, version: 2, confirmName: String(name) })),
    ).toMatch(/^not_found/);
  });
});
