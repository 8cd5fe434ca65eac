/** The state machine in the database: transitions, identity, lease columns, append-only tables. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canTransition, LIVE_STATES, type LiveState, STATES, TRANSITIONS } from "#domain/delivery.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  leaseRows,
  makeBatch,
  makePlace,
  outcomeOf,
  type Place,
  readRow,
} from "#tests/support/queue-rows/sql.ts";
import { finish } from "./finish.ts";
import { cancelDeleted } from "./reconcile.ts";

const REFUSED = "23001";
const CHECK_VIOLATION = "23514";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

/** A row in a live state, with attempts so that each state would be allowed as far as the CHECKs go. */
async function rowIn(state: LiveState): Promise<string> {
  const [id] = await makeDeliveries(database.pool, { ...place, lostLeases: state === "delayed" ? 1 : 0 });
  if (state === "leased") await leaseRows(database.pool, [String(id)]);
  return String(id);
}

const LEASED =
  "lease_token = gen_random_uuid(), lease_until = now(), leased_at = now(), leased_by = gen_random_uuid()";
const FREE = "lease_token = NULL, lease_until = NULL, leased_at = NULL, leased_by = NULL";
const COLUMNS: Readonly<Record<LiveState, string>> = {
  ready: FREE,
  leased: LEASED,
  delayed: `${FREE}, attempts = greatest(attempts, 1)`,
};

/** Null when the update went through, else the error's code. */
async function refusal(sql: string, values: unknown[] = []): Promise<string | null> {
  try {
    await database.pool.query(sql, values);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe("ID-2 transitions of live rows are those of domain/delivery.ts", () => {
  const pairs = LIVE_STATES.flatMap((from) => LIVE_STATES.map((to) => [from, to] as const));
  it.each(pairs.filter(([from, to]) => from !== to))("%s -> %s", async (from, to) => {
    const id = await rowIn(from);
    const code = await refusal(`UPDATE sluice.delivery SET state = $2, ${COLUMNS[to]} WHERE id = $1`, [
      id,
      to,
    ]);
    expect(code).toBe(canTransition(from, to) ? null : REFUSED);
    expect(await readRow(database.pool, "delivery", id)).toMatchObject({ state: code === null ? to : from });
  });

  it.each(pairs.filter(([from, to]) => from === to))(
    "a change that stays in %s is no transition",
    async (state) => {
      const id = await rowIn(state);
      expect(await refusal("UPDATE sluice.delivery SET due_at = now() WHERE id = $1", [id])).toBeNull();
    },
  );

  it("no live row can take a terminal state: it leaves the table", async () => {
    for (const state of STATES.filter((word) => !(LIVE_STATES as readonly string[]).includes(word))) {
      expect(
        await refusal("UPDATE sluice.delivery SET state = $2 WHERE id = $1", [await rowIn("leased"), state]),
      ).toBe("22P02");
    }
  });

  it.each(
    LIVE_STATES.flatMap((from) =>
      (["delivered", "dead", "cancelled"] as const).map((to) => [from, to] as const),
    ),
  )("%s -> %s by the statement that does it", async (from, to) => {
    const id = await rowIn(from);
    const token =
      from === "leased" ? String((await readRow(database.pool, "delivery", id))?.lease_token) : randomUUID();
    if (to === "cancelled") {
      await database.pool.query("UPDATE sluice.destination SET deleted_at = now() WHERE id = $1", [
        place.destinationId,
      ]);
      await cancelDeleted(database.pool);
      await database.pool.query("UPDATE sluice.destination SET deleted_at = NULL WHERE id = $1", [
        place.destinationId,
      ]);
    } else {
      await finish(database.pool, [outcomeOf(id, token, { decision: to, reason: "gone", fingerprint: "f" })]);
    }
    // A recall of a replay is the one other way to dead, and has its own statement.
    const causes = TRANSITIONS.filter(
      (step) => step.from === from && step.to === to && step.cause !== "replay_recalled",
    );
    expect((await readRow(database.pool, "delivery_all", id))?.state).toBe(causes.length > 0 ? to : from);
  });
});

async function insertRefusal(columns: string): Promise<string | null> {
  return refusal(
    `INSERT INTO sluice.delivery SELECT (jsonb_populate_record(d, ${columns})).* FROM sluice.delivery d WHERE id = $1`,
    [await rowIn("ready")],
  );
}

const fresh = (fields: string) => `jsonb_build_object('id', gen_random_uuid(), ${fields})`;

describe("ID-2 how a delivery starts", () => {
  it("as ready in its first cycle, or as a replay in a later one, and in no other way", async () => {
    const batch = await makeBatch(database.pool, "running");
    const replay = `'lane', 'replay', 'replay_batch_id', '${batch}'`;
    expect(await insertRefusal(fresh("'state', 'ready'"))).toBeNull();
    expect(await insertRefusal(fresh(`'state', 'delayed', 'attempts', 3, 'cycle', 2, ${replay}`))).toBeNull();
    expect(await insertRefusal(fresh(`'state', 'delayed', 'attempts', 0, 'cycle', 2, ${replay}`))).toBeNull();
    const refused = [
      "'state', 'ready', 'cycle', 2",
      "'state', 'delayed', 'attempts', 1",
      "'state', 'delayed', 'attempts', 1, 'lane', 'retry'",
      `'state', 'delayed', 'attempts', 1, 'cycle', 1, ${replay}`,
      "'state', 'leased', 'lease_token', gen_random_uuid(), 'lease_until', now(), 'leased_at', now(), 'leased_by', gen_random_uuid()",
    ];
    for (const fields of refused) expect(await insertRefusal(fresh(fields)), fields).toBe(REFUSED);
  });

  it("ID-1 an id stands once", async () => {
    expect(await insertRefusal("jsonb_build_object('state', 'ready')")).toBe("23505");
  });
});

describe("ID-5 ID-10 identity", () => {
  const changes = [
    "id = gen_random_uuid()",
    "tenant_id = gen_random_uuid()",
    "destination_id = gen_random_uuid()",
    "payload_id = gen_random_uuid()",
    "idempotency_key = 'another'",
    "created_at = created_at - interval '1 second'",
  ];
  it.each(changes)("of a delivery never changes: %s", async (change) => {
    for (const state of LIVE_STATES) {
      expect(await refusal(`UPDATE sluice.delivery SET ${change} WHERE id = $1`, [await rowIn(state)])).toBe(
        REFUSED,
      );
    }
  });

  it.each(changes)("of a dead letter never changes: %s", async (change) => {
    const id = await rowIn("leased");
    const token = String((await readRow(database.pool, "delivery", id))?.lease_token);
    await finish(database.pool, [
      outcomeOf(id, token, { decision: "dead", reason: "gone", fingerprint: "f" }),
    ]);
    expect(await refusal(`UPDATE sluice.dead_letter SET ${change} WHERE id = $1`, [id])).toBe(REFUSED);
    expect(
      await refusal("UPDATE sluice.dead_letter SET version = version + 1 WHERE id = $1", [id]),
    ).toBeNull();
  });

  it("region never changes: neither trigger nor CHECK lets it", async () => {
    expect(
      await refusal("UPDATE sluice.delivery SET region = 'eu' WHERE id = $1", [await rowIn("ready")]),
    ).toBe(REFUSED);
    expect(await refusal("UPDATE sluice.tenant SET region = 'eu'")).toBe(CHECK_VIOLATION);
    expect(await refusal("UPDATE sluice.region_control SET region = 'eu'")).toBe(CHECK_VIOLATION);
  });

  it("attempts and cycle never go down", async () => {
    const [id] = await makeDeliveries(database.pool, { ...place, lane: "retry" });
    expect(
      await refusal("UPDATE sluice.delivery SET attempts = 3, cycle = 2 WHERE id = $1", [id]),
    ).toBeNull();
    for (const change of ["attempts = 2", "cycle = 1", "attempts = -1"]) {
      expect(await refusal(`UPDATE sluice.delivery SET ${change} WHERE id = $1`, [id]), change).toBe(REFUSED);
    }
  });
});

describe("two statuses cannot disagree (fault 82)", () => {
  it("the four lease columns are all set in a leased row, and none in any other", async () => {
    const columns = [
      "lease_token = gen_random_uuid()",
      "lease_until = now()",
      "leased_at = now()",
      "leased_by = gen_random_uuid()",
    ];
    for (let mask = 0; mask < 16; mask++) {
      const set = columns.filter((_, bit) => mask & (1 << bit));
      const leasedCode = await refusal(
        `UPDATE sluice.delivery SET ${["state = 'leased'", ...set].join(", ")} WHERE id = $1`,
        [await rowIn("ready")],
      );
      expect(leasedCode, set.join()).toBe(mask === 15 ? null : CHECK_VIOLATION);
      if (mask === 0) continue;
      const code = await refusal(`UPDATE sluice.delivery SET ${set.join(", ")} WHERE id = $1`, [
        await rowIn("ready"),
      ]);
      expect(code, set.join()).toBe(CHECK_VIOLATION);
    }
  });

  it("ready means never attempted and first lane; delayed means attempted, or a replay; replay means a batch", async () => {
    const batch = await makeBatch(database.pool, "running");
    const bad: [LiveState, string][] = [
      ["ready", "attempts = 1"],
      ["ready", "lane = 'retry'"],
      ["ready", `lane = 'replay', replay_batch_id = '${batch}'`],
      ["delayed", "lane = 'replay'"],
      ["delayed", `replay_batch_id = '${batch}'`],
      ["leased", "lane = 'replay'"],
    ];
    for (const [state, change] of bad) {
      expect(
        await refusal(`UPDATE sluice.delivery SET ${change} WHERE id = $1`, [await rowIn(state)]),
        change,
      ).toBe(CHECK_VIOLATION);
    }
    const unsent = await rowIn("leased");
    expect(
      await refusal(`UPDATE sluice.delivery SET state = 'delayed', ${FREE} WHERE id = $1`, [unsent]),
    ).toBe(CHECK_VIOLATION);
  });

  it("counters are never negative", async () => {
    for (const column of ["failures", "rejections", "throttles", "throttled_ms", "lost_leases"]) {
      expect(
        await refusal(`UPDATE sluice.delivery SET ${column} = -1 WHERE id = $1`, [await rowIn("ready")]),
      ).toBe(CHECK_VIOLATION);
    }
  });
});

describe("append-only tables", () => {
  it("attempts, the archive, the audit and policies can be neither changed nor deleted", async () => {
    const id = await rowIn("leased");
    const token = String((await readRow(database.pool, "delivery", id))?.lease_token);
    await finish(database.pool, [outcomeOf(id, token)]);
    await database.pool.query(
      `INSERT INTO sluice.operator_action (id, region, actor, actor_role, action, target_kind, target_id, reason, result, correlation_id)
       VALUES (gen_random_uuid(), 'us', 'ann', 'operator', 'pause', 'tenant', 'x', 'test', 'done', 'c')`,
    );
    await database.pool.query(
      "INSERT INTO sluice.policy (service_class, version, region, body, created_by, reason) VALUES ('urgent', 1, 'us', '{}', 'ann', 'test')",
    );
    const changes = {
      attempt: "status = 500",
      delivery_archive: "state = 'cancelled'",
      operator_action: "actor = 'bob'",
      policy: "body = '{\"a\":1}'",
    };
    for (const [table, change] of Object.entries(changes)) {
      const before = await countRows(database.pool, table);
      expect(before, table).toBeGreaterThan(0);
      expect(await refusal(`UPDATE sluice.${table} SET ${change}`), table).toBe(REFUSED);
      expect(await refusal(`DELETE FROM sluice.${table}`), table).toBe(REFUSED);
      expect(await countRows(database.pool, table), table).toBe(before);
    }
  });

  it("the region's one row stays, and no second one comes", async () => {
    expect(await refusal("DELETE FROM sluice.region_control")).toBe(REFUSED);
    expect(await refusal("INSERT INTO sluice.region_control (region) VALUES ('eu')")).toBe(CHECK_VIOLATION);
    expect(await refusal("INSERT INTO sluice.region_control (region) VALUES ('us')")).toBe("23505");
  });
});
