/**
 * A rate over several processes: a token may be used late for as long as it lives, so another process gets the next one
 * that much later, and their requests never come nearer than the rate says. On a real server.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RATE_AHEAD_MS, TOKEN_LIFE_MS, TOKEN_LIFE_SHARE } from "#domain/rate.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { makePlace, type Place, request } from "#tests/support/queue-rows/sql.ts";
import { type Claim, claim } from "./claim.ts";

/** One in ten seconds: the test's own seconds do not matter. */
const SLOW = 0.1;
const GAP_MS = 10_000;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function makeRated(ratePerSecond: number, rateBurst: number): Promise<Place> {
  const place = await makePlace(database.pool, { ratePerSecond, rateBurst });
  await makeDeliveries(database.pool, { ...place, count: 20 });
  return place;
}

function ask(place: Place, workerId: string, wanted = 1): Promise<Claim> {
  return claim(database.pool, request([{ ...place, wanted }], { workerId }));
}

async function passMs(place: Place, ms: number): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.destination_rate SET rate_tat = rate_tat - $2::float8 * interval '1 millisecond' WHERE destination_id = $1",
    [place.destinationId, ms],
  );
}

describe("FAIR-1 the next token of a destination's rate", () => {
  it("is there an interval later for the process that took the last one, and a token's life later for another", async () => {
    const place = await makeRated(SLOW, 1);
    const [own, other] = [randomUUID(), randomUUID()];
    const first = await ask(place, own);
    expect(first.ids).toHaveLength(1);
    const [mine, theirs] = [await ask(place, own), await ask(place, other)];
    expect(mine.entries[0]).toMatchObject({ taken: 0, blocker: "rate" });
    expect(theirs.entries[0]).toMatchObject({ taken: 0, blocker: "rate" });
    expect((mine.entries[0]?.untilMs ?? 0) - first.claimedAtMs).toBeCloseTo(GAP_MS, -1);
    expect((theirs.entries[0]?.untilMs ?? 0) - first.claimedAtMs).toBeCloseTo(GAP_MS + TOKEN_LIFE_MS, -1);
  });

  it("is taken by another process when the last one's life is over, and is that one's from then on", async () => {
    // A life of most of a minute: the test's own seconds do not matter here either.
    const place = await makeRated(SLOW / 100, 1);
    const gapMs = 100 * GAP_MS;
    const lifeMs = gapMs * TOKEN_LIFE_SHARE;
    const [own, other] = [randomUUID(), randomUUID()];
    expect((await ask(place, own)).ids).toHaveLength(1);
    await passMs(place, gapMs);
    expect((await ask(place, other)).ids).toEqual([]);
    await passMs(place, lifeMs);
    const taken = await ask(place, other);
    expect(taken.ids).toHaveLength(1);
    // From now on it is the other's, counted from when it took it.
    expect((await ask(place, own)).entries[0]?.untilMs).toBeCloseTo(taken.claimedAtMs + gapMs + lifeMs, -2);
  });

  it("is there at once for anybody when the destination has rested", async () => {
    const place = await makeRated(SLOW, 3);
    expect((await ask(place, randomUUID(), 3)).ids).toHaveLength(3);
    await passMs(place, 3 * GAP_MS + TOKEN_LIFE_MS);
    expect((await ask(place, randomUUID(), 3)).ids).toHaveLength(3);
  });

  it("of a slow rate waits for a twentieth of the interval", async () => {
    const place = await makeRated(SLOW / 10, 1);
    const first = await ask(place, randomUUID());
    const other = await ask(place, randomUUID());
    expect((other.entries[0]?.untilMs ?? 0) - first.claimedAtMs).toBeCloseTo(10 * GAP_MS * 1.05, -2);
  });

  it("FAIR-7 asking in vain never moves it: a raised rate counts for whoever asks, however often", async () => {
    const place = await makeRated(SLOW / 100, 1);
    await ask(place, randomUUID());
    await database.pool.query("UPDATE sluice.destination SET rate_per_second = 20 WHERE id = $1", [
      place.destinationId,
    ]);
    const other = randomUUID();
    const until = [];
    for (let n = 0; n < 5; n++) until.push((await ask(place, other)).entries[0]?.untilMs ?? 0);
    expect(Math.max(...until) - Math.min(...until)).toBeLessThanOrEqual(1);
  });
});

describe("what a token is worth", () => {
  it("FAIR-1 is the same in the claim and in domain/rate.ts, with which workers plan, pace and wait", async () => {
    const { rows } = await database.pool.query(
      `SELECT extract(epoch FROM q.ahead)::float8 * 1000 AS ahead_ms, extract(epoch FROM q.token_life)::float8 * 1000 AS life_ms, q.token_life_share AS share
         FROM sluice.rate_constants() q`,
    );
    expect(rows).toEqual([{ ahead_ms: RATE_AHEAD_MS, life_ms: TOKEN_LIFE_MS, share: TOKEN_LIFE_SHARE }]);
    // It is these that the claim goes by, and no numbers of its own.
    const claimText = await database.pool.query<{ text: string }>(
      "SELECT prosrc AS text FROM pg_proc WHERE oid = 'sluice.claim'::regproc",
    );
    expect(claimText.rows[0]?.text).toContain("FROM sluice.rate_constants()");
    expect(claimText.rows[0]?.text).not.toMatch(/interval '100 milliseconds'|interval '1 second'[^*]{0,3};/);
  });
});
