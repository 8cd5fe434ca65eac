/** What the schema itself refuses and promises, whatever program writes to it. On a real server. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEAD_CLASS, DEAD_REASONS, LANES, LIVE_STATES, SERVICE_CLASSES } from "#domain/delivery.ts";
import { uuidV7, uuidV7Floor } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { makeBatch } from "#tests/support/queue-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";

const CHECK_VIOLATION = "23514";

let regions: TestRegions;
let us: TestDatabase;

beforeAll(async () => {
  regions = await createTestRegions();
  us = regions.us;
});

afterAll(() => regions.drop());

async function refusal(database: TestDatabase, sql: string, values: unknown[] = []): Promise<string | null> {
  try {
    await database.pool.query(sql, values);
    return null;
  } catch (error) {
    const { code, constraint } = error as { code: string; constraint?: string };
    return constraint === undefined ? code : `${code} ${constraint}`;
  }
}

const ID = "gen_random_uuid()";
const SHA = "decode(repeat('ab', 32), 'hex')";
const ENVELOPE =
  "tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class";
const ENVELOPE_VALUES = `${ID}, ${ID}, ${ID}, 1, 'e', 'k', 'urgent'`;

/** One valid row of each table that a region's rows stand in: the columns beside region, and their values. */
const ROWS: Readonly<Record<string, readonly [columns: string, values: string]>> = {
  api_idempotency: ["idempotency_key, actor, request_sha256", `${ID}::text, 'ann', ${SHA}`],
  attempt: [
    "id, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token, due_at, started_at, duration_ms, outcome, decision",
    `${ID}, ${ID}, ${ID}, ${ID}, 'urgent', 'first', 1, 'http', 1, ${ID}, now(), now(), 1, 'delivered', 'delivered'`,
  ],
  attempt_rollup: [
    "minute, tenant_id, destination_id, service_class, outcome, decision, attempts, first_attempts, duration_sum_ms, duration_max_ms, duration_p95_ms",
    `now(), ${ID}, ${ID}, 'urgent', 'gone', 'dead', 1, 1, 1, 1, 1`,
  ],
  dead_letter: [
    `id, ${ENVELOPE}, created_at, first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle, last_failure_at`,
    `${ID}, ${ENVELOPE_VALUES}, now(), now(), now(), 'gone', 'f', 1, 1, 1, 0, 0, 0, 1, now()`,
  ],
  dead_letter_group: ["fingerprint", `${ID}::text`],
  delivery: [`id, ${ENVELOPE}`, `${ID}, ${ENVELOPE_VALUES}`],
  delivery_archive: [
    `id, ${ENVELOPE}, created_at, first_due_at, due_at, state, attempts, failures, throttles, cycle`,
    `${ID}, ${ENVELOPE_VALUES}, now(), now(), now(), 'delivered', 1, 0, 0, 1`,
  ],
  delivery_key: [
    "idempotency_key, destination_id, delivery_id, body_sha256",
    `${ID}::text, ${ID}, ${ID}, ${SHA}`,
  ],
  demo_card_hold: [
    "id, tenant_id, destination_id, amount_minor, currency, card_last4, expires_at",
    `${ID}, ${ID}, ${ID}, 100, 'USD', '4242', now()`,
  ],
  demo_inbound_activity: [
    "endpoint_id, ticket_id, kind, idempotency_key, detail",
    `${ID}, ${ID}, 'follow_up', 'k', 'd'`,
  ],
  demo_inbound_document: ["endpoint_id, ticket_id, version, subject", `${ID}, ${ID}, 1, 's'`],
  demo_inbound_key: [
    "endpoint_id, idempotency_key, webhook_id, body_sha256",
    `${ID}, 'k', ${ID}::text, ${SHA}`,
  ],
  demo_ledger_entry: [
    "idempotency_key, hold_id, kind, amount_minor, currency",
    `${ID}::text, (SELECT id FROM sluice.demo_card_hold LIMIT 1), 'hold_released', 1, 'USD'`,
  ],
  demo_support_index_batch: ["id, tenant_id, destination_id, generation", `${ID}, ${ID}, ${ID}, 1`],
  demo_support_ticket: ["id, tenant_id, destination_id, subject", `${ID}, ${ID}, ${ID}, 's'`],
  destination: [
    "id, tenant_id, name, url, secret_current",
    `${ID}, (SELECT id FROM sluice.tenant LIMIT 1), 'd', 'http://x', '\\x00'`,
  ],
  destination_state: ["destination_id", ID],
  destination_rate: ["destination_id, rate_tat", `${ID}, clock_timestamp()`],
  operator_action: [
    "id, actor, actor_role, action, target_kind, target_id, reason, result, correlation_id",
    `${ID}, 'ann', 'operator', 'pause', 'tenant', 'x', 'test', 'done', 'c'`,
  ],
  payload: ["id, body, content_type, size_bytes", `${ID}, 'x', 'text/plain', 1`],
  policy: ["service_class, version, body, created_by, reason", "'urgent', 1, '{}', 'ann', 'test'"],
  payload_restricted: ["payload_id, body, restricted_by, reason", `${ID}, 'x', 'ann', 'test'`],
  queue_now: [
    "at, tenant_id, service_class, due_count, held_count, gated_count, ready, delayed, in_flight, retry_due_count",
    `now(), ${ID}, 'urgent', 0, 0, 0, 0, 0, 0, 0`,
  ],
  queue_sample: [
    "at, scope, service_class, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms, gated_count, ready, delayed, in_flight, dead",
    "clock_timestamp(), 'class', 'urgent', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
  ],
  replay_batch: ["id, name, reason, requested_by", `${ID}, 'b', 'test', 'ann'`],
  replay_item: [
    "batch_id, delivery_id, dead_letter_version",
    `(SELECT id FROM sluice.replay_batch LIMIT 1), ${ID}, 1`,
  ],
  replay_lane: [
    "batch_id, destination_id, tenant_id, rate_per_second, print",
    `(SELECT id FROM sluice.replay_batch LIMIT 1), ${ID}, ${ID}, 1, 'p'`,
  ],
  replay_event: [
    "id, batch_id, kind, actor",
    `${ID}, (SELECT id FROM sluice.replay_batch LIMIT 1), 'draft', 'ann'`,
  ],
  objective_policy: ["version, body, created_by, reason", "1, '{}', 'ann', 'test'"],
  replay_policy: ["version, body, created_by, reason", "1, '{}', 'ann', 'test'"],
  replay_freeze: [
    "batch_id, number, actor, sha256, facts, delivery_ids",
    `(SELECT id FROM sluice.replay_batch LIMIT 1), 1, 'ann', ${SHA}, '{}', '{}'`,
  ],
  replay_notice: [
    "event_id, batch_id, kind",
    "(SELECT id FROM sluice.replay_event LIMIT 1), (SELECT id FROM sluice.replay_batch LIMIT 1), 'ended'",
  ],
  queue_sample_5m: [
    "at, service_class, samples, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms, in_flight, dead",
    "now(), 'urgent', 1, 0, 0, 0, 0, 0, 0, 0",
  ],
  sample_run: ["at, scope, ok", "clock_timestamp(), 'class', true"],
  series_minute: [
    "minute, tenant_id, service_class, requests, delivered, rate_limited, permanent, server_error, network, blocked, leases_expired, died, first_ages, first_age_max_ms, services, service_max_ms, ends, end_attempts, gaps",
    `now(), ${ID}, 'urgent', 1, 1, 0, 0, 0, 0, 0, 0, 0, '{}', 0, '{}', 0, '{}', 0, '{}'`,
  ],
  series_quarter: [
    "at, service_class, requests, delivered, rate_limited, permanent, server_error, network, blocked, leases_expired, died, first_ages, first_age_max_ms, ends, end_attempts",
    "now(), 'urgent', 1, 1, 0, 0, 0, 0, 0, 0, 0, '{}', 0, '{}', 0",
  ],
  series_sum: [
    "at, tenant_id, service_class, requests, delivered, rate_limited, permanent, server_error, network, blocked, leases_expired, died, first_ages, first_age_max_ms, services, service_max_ms, ends, end_attempts",
    `now(), ${ID}, 'urgent', 1, 1, 0, 0, 0, 0, 0, 0, 0, '{}', 0, '{}', 0, '{}', 0`,
  ],
  series_summed: ["what, summed_to", `${ID}::text, now()`],
  queue_sample_30m: [
    "at, tenant_id, oldest_ms, due_ms, due_count, held_ms, held_count, in_flight, dead",
    `now(), ${ID}, 0, 0, 0, 0, 0, 0, 0`,
  ],
  series_run: ["what, rolled_at", `${ID}::text, now()`],
  tenant: ["id, slug, name", `${ID}, ${ID}::text, 't'`],
  worker_process: ["id, host, pid, version, slots", `${ID}, 'h', 1, '1', 1`],
};
/** Rows that others need come first. */
const TABLES = ["tenant", "demo_card_hold", "replay_batch", ...Object.keys(ROWS)];

function insert(table: string, region: string): string {
  const [columns, values] = ROWS[table] ?? ["", ""];
  return `INSERT INTO sluice.${table} (region, ${columns}) VALUES ('${region}', ${values})`;
}

describe("REG-1 REG-2 region", () => {
  it("stands in every table, and every table has a row here to be tried", async () => {
    const tables = await us.pool.query<{ name: string; pinned: boolean }>(
      `SELECT c.relname AS name, EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conname = c.relname || '_region'
                AND pg_get_constraintdef(k.oid) = 'CHECK ((region = ''us''::text))') AS pinned
         FROM pg_class c WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          AND c.relname NOT IN ('_prisma_migrations') AND NOT starts_with(c.relname, 'console_')`,
    );
    expect(tables.rows.filter(({ pinned }) => !pinned).map(({ name }) => name)).toEqual([]);
    expect(tables.rows.map(({ name }) => name).sort()).toEqual(
      [...Object.keys(ROWS), "region_control"].sort(),
    );
  });

  it.each(["us", "eu"] satisfies Region[])(
    "the database of %s takes its own rows and refuses the other's in every table",
    async (region) => {
      const database = regions[region];
      const other = region === "us" ? "eu" : "us";
      for (const table of TABLES) {
        const own = await refusal(database, insert(table, region));
        expect(own, table).toBe(table === "policy" && own !== null ? "23505 policy_pkey" : null);
        const foreign = await refusal(database, insert(table, other));
        expect(foreign, table).toMatch(new RegExp(`^${CHECK_VIOLATION} ${table}_region$`));
      }
    },
  );
});

describe("words of the domain and of the database", () => {
  async function labels(type: string): Promise<string[]> {
    const result = await us.pool.query<{ label: string }>(
      `SELECT unnest(enum_range(NULL::sluice.${type}))::text AS label`,
    );
    return result.rows.map(({ label }) => label);
  }

  it("ID-2 states, lanes and classes are the same, in the same order", async () => {
    expect(await labels("delivery_state")).toEqual([...LIVE_STATES]);
    expect(await labels("lane")).toEqual([...LANES]);
    expect(await labels("service_class")).toEqual([...SERVICE_CLASSES]);
  });

  it("fault 85: every dead reason is known and has the same class", async () => {
    const [columns, values] = ROWS.dead_letter ?? ["", ""];
    for (const reason of DEAD_REASONS) {
      const result = await us.pool.query<{ reason_class: string }>(
        `INSERT INTO sluice.dead_letter (region, ${columns}) VALUES ('us', ${values.replace("'gone'", "$1")}) RETURNING reason_class`,
        [reason],
      );
      expect(result.rows[0]?.reason_class, reason).toBe(DEAD_CLASS[reason]);
    }
    const unknown = insert("dead_letter", "us").replace("'gone'", "'bad luck'");
    expect(await refusal(us, unknown)).toBe(`${CHECK_VIOLATION} dead_letter_reason_check`);
  });
});

describe("ID-4 the form of a key", () => {
  const insertKey = `INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256) VALUES ($1, ${ID}, 'us', ${ID}, ${SHA})`;

  it.each(["a", "x".repeat(255), "!~", "order-1:2026/11#e"])("takes %j", async (key) => {
    expect(await refusal(us, insertKey, [key])).toBeNull();
  });

  it.each(["", "x".repeat(256), "a b", "a\tb", "a\nb", "a\n", "clé", "\u007f", "a\u00a0"])(
    "refuses %j",
    async (key) => {
      expect(await refusal(us, insertKey, [key])).toBe(
        `${CHECK_VIOLATION} delivery_key_idempotency_key_check`,
      );
    },
  );

  it("ID-11 stands once for each destination, and its hash is a SHA-256", async () => {
    const destination = randomUUID();
    const once = `INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256) VALUES ('same', $1, 'us', ${ID}, ${SHA})`;
    expect(await refusal(us, once, [destination])).toBeNull();
    expect(await refusal(us, once, [randomUUID()])).toBeNull();
    expect(await refusal(us, once, [destination])).toBe("23505 delivery_key_pkey");
    const short = insert("delivery_key", "us").replace("repeat('ab', 32)", "repeat('ab', 31)");
    expect(await refusal(us, short)).toContain(CHECK_VIOLATION);
  });
});

describe("DLQ-4 four eyes", () => {
  const BEFORE = ["draft", "in_review", "rejected", "expired", "cancelled"];
  const AFTER = [
    "approved",
    "canary",
    "canary_hold",
    "running",
    "paused",
    "stopping",
    "completed",
    "stopped",
    "failed",
  ];
  // A row comes past its draft only by its steps (triggers, tried below). Here its other rules are looked at alone.
  const alone = "WITH r AS MATERIALIZED (SELECT set_config('session_replication_role', 'replica', true))";
  const batch = `${alone} INSERT INTO sluice.replay_batch (id, region, name, state, reason, requested_by, approved_by, break_glass_by, frozen_sha256)
                 SELECT ${ID}, 'us', 'b', $1, 'test', 'ann', $2, $3, ${SHA} FROM r`;

  it.each(AFTER)(
    "a batch that is %s was approved by another person, or an admin broke the glass",
    async (state) => {
      const refused = `${CHECK_VIOLATION} replay_batch_four_eyes`;
      expect(await refusal(us, batch, [state, null, null])).toBe(refused);
      expect(await refusal(us, batch, [state, "ann", null])).toBe(refused);
      expect(await refusal(us, batch, [state, "bob", null])).toBeNull();
      expect(await refusal(us, batch, [state, null, "root"])).toBeNull();
    },
  );

  it.each(BEFORE)("a batch that is %s needs no approval yet", async (state) => {
    expect(await refusal(us, batch, [state, null, null])).toBeNull();
  });

  it("DLQ-5 a batch past its draft has a frozen set, and a delivery is in one open batch only", async () => {
    const unfrozen = batch.replace(SHA, "NULL::bytea");
    expect(await refusal(us, unfrozen, ["draft", null, null])).toBeNull();
    expect(await refusal(us, unfrozen, ["in_review", null, null])).toContain(CHECK_VIOLATION);
    const item = `${alone} INSERT INTO sluice.replay_item (batch_id, delivery_id, region, dead_letter_version, state)
                  SELECT b.id, $1, 'us', 1, $3 FROM r, (SELECT id FROM sluice.replay_batch ORDER BY id OFFSET $2 LIMIT 1) b`;
    const delivery = randomUUID();
    expect(await refusal(us, item, [delivery, 0, "dead_again"])).toBeNull();
    expect(await refusal(us, item, [delivery, 1, "frozen"])).toBeNull();
    expect(await refusal(us, item, [delivery, 2, "released"])).toBe("23505 replay_item_open");
  });

  it("DLQ-4 a batch begins as a draft, an item as selected and in a draft, and a frozen item stays", async () => {
    const REFUSED = "23001";
    const begin = (columns: string, values: string) =>
      refusal(
        us,
        `INSERT INTO sluice.replay_batch (id, region, name, reason, requested_by, frozen_sha256, ${columns})
         VALUES (${ID}, 'us', 'b', 'test', 'ann', ${SHA}, ${values})`,
      );
    for (const state of [...BEFORE, ...AFTER].filter((word) => word !== "draft")) {
      expect(await begin("state, approved_by", `'${state}', 'bob'`), state).toBe(REFUSED);
    }
    expect(await begin("approved_by", "'bob'")).toBe(REFUSED);
    expect(await begin("break_glass_by", "'root'")).toBe(REFUSED);
    expect(await begin("version", "2")).toBe(REFUSED);
    const into = (batchId: string, state: string) =>
      refusal(
        us,
        `INSERT INTO sluice.replay_item (batch_id, delivery_id, region, dead_letter_version, state) VALUES ($1, ${ID}, 'us', 1, $2)`,
        [batchId, state],
      );
    const draft = await makeBatch(us.pool, "draft");
    for (const state of ["frozen", "released", "delivered"]) expect(await into(draft, state)).toBe(REFUSED);
    expect(await into(draft, "selected")).toBeNull();
    for (const state of ["in_review", "approved", "running"]) {
      expect(await into(await makeBatch(us.pool, state), "selected"), state).toBe(REFUSED);
    }
    const own = "WHERE batch_id = $1";
    await us.pool.query(`UPDATE sluice.replay_item SET state = 'frozen', seq = 0 ${own}`, [draft]);
    expect(await refusal(us, `DELETE FROM sluice.replay_item ${own}`, [draft])).toBe(REFUSED);
  });
});

describe("configuration", () => {
  it("CTL-1 a pause has a reason and an end; a disabled destination has a reason; a drained region too", async () => {
    const tenantId = await makeTenant(us.pool);
    const destinationId = await makeDestination(us.pool, tenantId);
    const bad: [table: string, id: string | null, columns: string][] = [
      ["tenant", tenantId, "paused_at = now()"],
      ["tenant", tenantId, "paused_at = now(), pause_until = now()"],
      ["tenant", tenantId, "paused_at = now(), pause_reason = 'x'"],
      ["destination", destinationId, "pause_until = now()"],
      ["destination", destinationId, "disabled_at = now()"],
      ["destination", destinationId, "secret_previous = '\\x00'"],
      ["destination", destinationId, "rate_per_second = 0"],
      ["destination", destinationId, "rate_burst = 0"],
      ["destination", destinationId, "concurrency_limit = 0"],
      ["destination", destinationId, "policy_override = '[]'"],
      ["tenant", tenantId, "concurrency_limit = 0"],
      ["tenant", tenantId, "weight = 0"],
      ["tenant", tenantId, "slug = 'Not A Slug'"],
      ["region_control", null, "draining = true"],
    ];
    for (const [table, id, columns] of bad) {
      const code = await refusal(
        us,
        `UPDATE sluice.${table} SET ${columns} WHERE $1::uuid IS NULL OR ${id ? "id" : "$1"} = $1`,
        [id],
      );
      expect(code, columns).toContain(CHECK_VIOLATION);
    }
  });

  it("ID-9 a payload has a body or the time of its erasure, never both or neither", async () => {
    const payload = `INSERT INTO sluice.payload (id, region, body, content_type, size_bytes, erased_at) VALUES (${ID}, 'us', $1, 'a/b', $3, $2)`;
    expect(await refusal(us, payload, [Buffer.from("x"), null, 1])).toBeNull();
    expect(await refusal(us, payload, [null, new Date(), 1])).toBeNull();
    expect(await refusal(us, payload, [null, null, 1])).toContain(CHECK_VIOLATION);
    expect(await refusal(us, payload, [Buffer.from("x"), new Date(), 1])).toContain(CHECK_VIOLATION);
    expect(await refusal(us, payload, [Buffer.from("x"), null, 1_048_577])).toContain(CHECK_VIOLATION);
  });

  it("fault 24: a body is stored byte for byte", async () => {
    const tenantId = await makeTenant(us.pool);
    const destinationId = await makeDestination(us.pool, tenantId);
    const body = Buffer.from('{"b":1.0,"a":12345678901234567890,"c":1e2,\r\n"d":"\u0000"}');
    const [id] = await makeDeliveries(us.pool, { tenantId, destinationId, body });
    const stored = await us.pool.query<{ body: Buffer }>("SELECT body FROM sluice.payload WHERE id = $1", [
      id,
    ]);
    expect(stored.rows[0]?.body.equals(body)).toBe(true);
  });
});

describe("reading", () => {
  it("ID-8 the view of all deliveries has no body, no secret and no lease token", async () => {
    const view = await us.pool.query("SELECT * FROM sluice.delivery_all LIMIT 0");
    const columns = view.fields.map(({ name }) => name);
    for (const column of ["body", "secret_current", "lease_token"]) expect(columns).not.toContain(column);
    expect(columns).toEqual(
      expect.arrayContaining(["id", "state", "lane", "attempts", "due_at", "finished_at"]),
    );
  });

  it("sluice.uuid_floor bounds the UUIDv7 of a moment from below, and only those", async () => {
    const ms = Date.UTC(2026, 10, 30, 12, 0, 0, 123);
    const floor = await us.pool.query<{ id: string }>("SELECT sluice.uuid_floor($1) AS id", [new Date(ms)]);
    const id = String(floor.rows[0]?.id);
    expect(id <= uuidV7Floor(ms)).toBe(true);
    expect(id > uuidV7(ms - 1, (n) => Buffer.alloc(n, 0xff))).toBe(true);
    expect(id <= uuidV7(ms, randomBytes)).toBe(true);
  });
});
