/** Rotating a destination's secret: revealed once, sealed in the row, and nowhere else. On a real server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDestinations } from "#db/queue/configuration.ts";
import { openSecret } from "#db/secrets.ts";
import { isSluiceError } from "#domain/errors.ts";
import { contextOf, destinationId, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING, TEST_SIGNING_SECRET } from "#tests/support/factories.ts";
import { formsOf, tablesWith } from "#tests/support/search-rows/sql.ts";
import { endPreviousSecret } from "./end-previous-secret.ts";
import { rekeyRegion } from "./rekey-secrets.ts";
import { rotateSecret, type SecretContext } from "./rotate-secret.ts";

const HOUR_MS = 3_600_000;
let database: TestDatabase;
let tenantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  tenantId = await makeTenant(database.pool);
});
afterAll(() => database.drop());

function context(changes: Partial<SecretContext> = {}): SecretContext {
  return { ...contextOf(database), keyring: TEST_KEYRING, ...changes };
}

async function place(): Promise<{ id: string; publicId: string }> {
  const id = await makeDestination(database.pool, tenantId);
  return { id, publicId: destinationId(id) };
}

/** The secrets that a worker would sign with now. */
async function live(id: string): Promise<string[]> {
  const [row] = await readDestinations(database.pool, [id]);
  const sealed = [row?.secretCurrent, row?.secretPrevious].filter((each) => each != null);
  return sealed.map((each) => openSecret(TEST_KEYRING, each as Buffer));
}

async function conflict(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((caught: unknown) => caught);
  if (!isSluiceError(error)) throw new Error(`not refused: ${String(error)}`);
  return `${error.code}: ${error.detail}`;
}

describe("rotateSecret", () => {
  it("gives the new secret once, keeps the old one signing for a time, and raises the version", async () => {
    const { id, publicId } = await place();
    const rotated = await rotateSecret(context(), {
      destinationId: publicId,
      version: 1,
      reason: REASON,
      keepMs: HOUR_MS,
    });
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated.answer).toMatchObject({ version: 2, applied: true, after: { kept: "current" } });
    expect(Date.parse(rotated.previousUntil ?? "")).toBeGreaterThan(Date.now() + HOUR_MS / 2);
    expect(await live(id)).toEqual([rotated.secret, TEST_SIGNING_SECRET]);
    const [audit] = await readAudit(database, publicId);
    expect(audit).toMatchObject({
      action: "destination.rotate_secret",
      actor: "user:ann",
      reason: REASON,
      result: "done",
      before: { previousSecretUntil: null },
      after: { previousSecretUntil: rotated.previousUntil, kept: "current" },
    });
  });

  it("does not cut off a third secret's receivers unasked, and can end the previous one first", async () => {
    const { id, publicId } = await place();
    const input = { destinationId: publicId, reason: REASON };
    const first = await rotateSecret(context(), { ...input, version: 1 });
    expect(await conflict(rotateSecret(context(), { ...input, version: 2 }))).toMatch(
      /^state_conflict: the previous secret still signs until \S+: end it first$/,
    );
    expect(await live(id)).toEqual([first.secret, TEST_SIGNING_SECRET]);
    await endPreviousSecret(context(), { ...input, version: 2 });
    expect(await live(id)).toEqual([first.secret]);
    expect(await conflict(endPreviousSecret(context(), { ...input, version: 3 }))).toMatch(
      /no previous secret/,
    );
    const second = await rotateSecret(context(), { ...input, version: 3 });
    expect(await live(id)).toEqual([second.secret, first.secret]);
  });

  it("replaces a secret whose answer was lost while the receiver's own goes on signing", async () => {
    const { id, publicId } = await place();
    const input = { destinationId: publicId, reason: REASON };
    expect(await conflict(rotateSecret(context(), { ...input, version: 1, keep: "previous" }))).toMatch(
      /no previous secret to keep/,
    );
    await rotateSecret(context(), { ...input, version: 1 });
    const again = await rotateSecret(context(), { ...input, version: 2, keep: "previous", keepMs: HOUR_MS });
    expect(await live(id)).toEqual([again.secret, TEST_SIGNING_SECRET]);
    expect(again.previousUntil).not.toBeNull();
  });

  it("ends every old secret at once when one has leaked", async () => {
    const { id, publicId } = await place();
    const input = { destinationId: publicId, reason: REASON };
    await rotateSecret(context(), { ...input, version: 1 });
    const clean = await rotateSecret(context(), { ...input, version: 2, keep: "none" });
    expect(clean.previousUntil).toBeNull();
    expect(await live(id)).toEqual([clean.secret]);
  });

  it("changes nothing for a stale version, a bad time or no reason", async () => {
    const { id, publicId } = await place();
    const input = { destinationId: publicId, version: 1, reason: REASON };
    expect(await conflict(rotateSecret(context(), { ...input, version: 7 }))).toMatch(/^version_conflict/);
    expect(await conflict(rotateSecret(context(), { ...input, keepMs: 1 }))).toMatch(/^invalid_body: keepMs/);
    expect(await conflict(rotateSecret(context(), { ...input, reason: "no" }))).toMatch(/^bad_reason/);
    expect(await live(id)).toEqual([TEST_SIGNING_SECRET]);
  });
});

describe("a plain secret", () => {
  it("stands in no table, no audit row and no error", async () => {
    const marker = "marker-in-a-rotated-secret-6f1ae";
    const { publicId } = await place();
    const input = { destinationId: publicId, reason: REASON };
    const planted = context({ randomBytes: () => Buffer.from(marker) });
    const { secret } = await rotateSecret(planted, { ...input, version: 1 });
    if (secret === null) throw new Error("The first answer holds the secret.");
    expect(Buffer.from(secret.slice("whsec_".length), "base64").toString()).toBe(marker);
    const refusals = [
      await conflict(rotateSecret(planted, { ...input, version: 2 })),
      await conflict(rotateSecret(planted, { ...input, version: 1 })),
    ];
    await rekeyRegion(planted, { reason: REASON });
    const forms = [...formsOf(marker), ...formsOf(secret), ...formsOf(TEST_SIGNING_SECRET)];
    expect(await tablesWith(database.pool, forms)).toEqual([]);
    for (const text of refusals) for (const form of forms) expect(text).not.toContain(form);
    // The search does find what is there.
    expect(await tablesWith(database.pool, [REASON])).toContain("sluice.operator_action");
  });
});
