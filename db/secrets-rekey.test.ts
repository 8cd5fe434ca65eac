/** Sealing all secrets anew under another key: in chunks, again and again, beside whoever changes secrets. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { isSluiceError } from "#domain/errors.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING, TEST_SIGNING_SECRET } from "#tests/support/factories.ts";
import {
  createKeyring,
  type Keyring,
  newSigningSecret,
  openSecret,
  sealedKeyId,
  sealSecret,
} from "./secrets.ts";
import { assertKeysFor, REKEY_CHUNK_ROWS, readSealingKeys, rekeySecrets } from "./secrets-rekey.ts";

const OLD = Buffer.alloc(32, 7).toString("base64");
const NEW = randomBytes(32).toString("base64");
const NEXT: Keyring = createKeyring({ keys: { next: NEW, test: OLD }, current: "next" });
const ONLY_NEW: Keyring = createKeyring({ keys: { next: NEW }, current: "next" });

let database: TestDatabase;
let tenantId: string;

beforeEach(async () => {
  await database?.drop();
  database = await createTestDatabase();
  tenantId = await makeTenant(database.pool);
});
afterAll(() => database.drop());

interface Row {
  readonly id: string;
  readonly version: number;
  readonly secret_current: Buffer;
  readonly secret_previous: Buffer | null;
  readonly secret_previous_until: Date | null;
}

async function rows(): Promise<Row[]> {
  const result = await database.pool.query<Row>(
    "SELECT id, version, secret_current, secret_previous, secret_previous_until FROM sluice.destination ORDER BY id",
  );
  return result.rows;
}

async function addMany(count: number): Promise<void> {
  const model = await makeDestination(database.pool, tenantId);
  await database.pool.query(
    `INSERT INTO sluice.destination (id, region, tenant_id, name, url, secret_current)
     SELECT gen_random_uuid(), region, tenant_id, 'copy', url, secret_current FROM sluice.destination, generate_series(1, $2) WHERE id = $1`,
    [model, count - 1],
  );
}

describe("rekeySecrets", () => {
  it("seals current and previous secrets under the newest key, chunk by chunk, and changes nothing else", async () => {
    await addMany(REKEY_CHUNK_ROWS + 20);
    const previous = newSigningSecret();
    const rotating = await makeDestination(database.pool, tenantId, { previousSecret: previous });
    const before = await rows();
    const steps: number[] = [];
    const result = await rekeySecrets(database.pool, NEXT, (sealed) => steps.push(sealed));
    expect(result).toEqual({
      keyId: "next",
      sealed: REKEY_CHUNK_ROWS + 21,
      left: 0,
      unreadable: 0,
      unreadableIds: [],
    });
    expect(steps).toEqual([REKEY_CHUNK_ROWS, REKEY_CHUNK_ROWS + 21]);
    const after = await rows();
    for (const [index, row] of after.entries()) {
      expect(openSecret(ONLY_NEW, row.secret_current)).toBe(TEST_SIGNING_SECRET);
      expect(row.version).toBe(before[index]?.version);
      expect(row.secret_previous_until).toEqual(before[index]?.secret_previous_until);
    }
    const kept = after.find(({ id }) => id === rotating)?.secret_previous;
    expect(openSecret(ONLY_NEW, kept as Buffer)).toBe(previous);
    expect(await readSealingKeys(database.pool)).toEqual([
      { keyId: "next", destinations: REKEY_CHUNK_ROWS + 21 },
    ]);
  });

  it("goes on where it was broken off, and does nothing a second time", async () => {
    await addMany(REKEY_CHUNK_ROWS + 20);
    let queries = 0;
    const breaking = {
      query: (...args: unknown[]) => {
        queries += 1;
        // Read, write, read: the second chunk is not written any more.
        if (queries === 4) return Promise.reject(new Error("the connection is gone"));
        return (database.pool.query as (...all: unknown[]) => unknown)(...args);
      },
    } as unknown as TestDatabase["pool"];
    await expect(rekeySecrets(breaking, NEXT)).rejects.toThrow("the connection is gone");
    expect(await readSealingKeys(database.pool)).toEqual([
      { keyId: "next", destinations: REKEY_CHUNK_ROWS },
      { keyId: "test", destinations: 20 },
    ]);
    expect(await rekeySecrets(database.pool, NEXT)).toMatchObject({ sealed: 20, left: 0 });
    const sealed = await rows();
    expect(await rekeySecrets(database.pool, NEXT)).toMatchObject({ sealed: 0, left: 0 });
    expect(await rows()).toEqual(sealed);
  });

  it("leaves a secret alone that somebody sets between its read and its write, and comes back to it", async () => {
    const id = await makeDestination(database.pool, tenantId);
    const rotated = newSigningSecret();
    let reads = 0;
    const racing = {
      query: async (text: string, values: unknown[]) => {
        const result = await database.pool.query(text, values);
        if (text.includes("ORDER BY id LIMIT")) reads += 1;
        if (reads === 1 && text.includes("ORDER BY id LIMIT")) {
          await database.pool.query("UPDATE sluice.destination SET secret_current = $2 WHERE id = $1", [
            id,
            sealSecret(TEST_KEYRING, rotated),
          ]);
        }
        return result;
      },
    } as unknown as TestDatabase["pool"];
    expect(await rekeySecrets(racing, NEXT)).toMatchObject({ sealed: 1, left: 0 });
    const [row] = await rows();
    expect(openSecret(ONLY_NEW, row?.secret_current as Buffer)).toBe(rotated);
  });

  it("removes previous secrets that have ended rather than keep them for ever", async () => {
    const id = await makeDestination(database.pool, tenantId, { previousSecret: newSigningSecret() });
    await rekeySecrets(database.pool, NEXT);
    await database.pool.query(
      "UPDATE sluice.destination SET secret_previous_until = clock_timestamp() - interval '1 second' WHERE id = $1",
      [id],
    );
    expect(await rekeySecrets(database.pool, NEXT)).toMatchObject({ sealed: 1 });
    expect((await rows())[0]).toMatchObject({ secret_previous: null, secret_previous_until: null });
  });

  it("names what it cannot open, seals the rest, and ends", async () => {
    const broken = await makeDestination(database.pool, tenantId);
    const foreign = await makeDestination(database.pool, tenantId);
    const good = await makeDestination(database.pool, tenantId);
    const other = createKeyring({ keys: { lost: randomBytes(32).toString("base64") }, current: "lost" });
    const set = "UPDATE sluice.destination SET secret_current = $2 WHERE id = $1";
    await database.pool.query(set, [broken, Buffer.from([1])]);
    await database.pool.query(set, [foreign, sealSecret(other, TEST_SIGNING_SECRET)]);
    const result = await rekeySecrets(database.pool, NEXT);
    expect(result).toMatchObject({ sealed: 1, left: 0, unreadable: 2 });
    expect([...result.unreadableIds].sort()).toEqual([broken, foreign].sort());
    expect(sealedKeyId((await rows()).find(({ id }) => id === good)?.secret_current as Buffer)).toBe("next");
  });
});

describe("assertKeysFor", () => {
  it("refuses a keyring that lacks a key which is in use, by its id", async () => {
    await makeDestination(database.pool, tenantId);
    await assertKeysFor(database.pool, TEST_KEYRING);
    await assertKeysFor(database.pool, NEXT);
    const error = await assertKeysFor(database.pool, ONLY_NEW).catch((caught: unknown) => caught);
    expect(isSluiceError(error, "bad_config") && error.detail).toBe(
      'SLUICE_SECRET_KEYS lacks the key "test", which seals secrets in use (destinations: 1)',
    );
  });

  it("does not mind deleted destinations, ended secrets and bytes that were never sealed", async () => {
    const deleted = await makeDestination(database.pool, tenantId);
    const ended = await makeDestination(database.pool, tenantId, { previousSecret: newSigningSecret() });
    const damaged = await makeDestination(database.pool, tenantId);
    await database.pool.query("UPDATE sluice.destination SET deleted_at = clock_timestamp() WHERE id = $1", [
      deleted,
    ]);
    await database.pool.query(
      "UPDATE sluice.destination SET secret_current = $2, secret_previous_until = clock_timestamp() - interval '1 s' WHERE id = $1",
      [ended, sealSecret(ONLY_NEW, TEST_SIGNING_SECRET)],
    );
    await database.pool.query("UPDATE sluice.destination SET secret_current = $2 WHERE id = $1", [
      damaged,
      Buffer.from([1, 200, 0, 1, 2]),
    ]);
    await assertKeysFor(database.pool, ONLY_NEW);
  });
});
