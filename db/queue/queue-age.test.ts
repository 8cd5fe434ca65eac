/** SIG-8: the ages by SQL equal the ages by TypeScript, on random rows. On a real server. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceClass } from "#domain/delivery.ts";
import { type AgeRow, delayedLag, type QueueAge, summarizeQueueAge } from "#domain/queue-age.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makePlace, type Place } from "#tests/support/queue-rows/sql.ts";

/** A round moment, so that every time below is a whole millisecond. */
const NOW_MS = Date.UTC(2026, 10, 30, 12);
const MAX_ROWS = 40;
const PLACES = 3;

interface RandomRow {
  readonly place: number;
  readonly serviceClass: ServiceClass;
  readonly kind: "ready" | "recovered" | "retry" | "leasedFirst" | "leasedRetry";
  readonly dueInMs: number;
  readonly leaseInMs: number;
}

interface RandomPlace {
  readonly gateInMs: number | null;
  readonly tenantPauseInMs: number | null;
  readonly destinationPauseInMs: number | null;
  readonly stopped: "no" | "disabled" | "deleted" | "tenant deleted";
}

interface Answer {
  tenant_id: string;
  destination_id: string;
  service_class: ServiceClass;
  first_ms: number | null;
  due_count: number;
  due_ms: number | null;
  held_count: number;
  held_ms: number | null;
  held_why: string | null;
  gated_count: number;
  ready: number;
  delayed: number;
  in_flight: number;
  retry_count: number;
  retry_ms: number | null;
}

const momentMs = fc.oneof(
  fc.integer({ min: -3_600_000, max: 3_600_000 }),
  fc.integer({ min: -3, max: 3 }),
  fc.constant(0),
);
const randomPlace: fc.Arbitrary<RandomPlace> = fc.record({
  gateInMs: fc.option(momentMs),
  tenantPauseInMs: fc.option(momentMs),
  destinationPauseInMs: fc.option(momentMs),
  stopped: fc.constantFrom("no", "no", "disabled", "deleted", "tenant deleted"),
});
const randomRow: fc.Arbitrary<RandomRow> = fc.record({
  place: fc.integer({ min: 0, max: PLACES - 1 }),
  serviceClass: fc.constantFrom("urgent", "routine"),
  kind: fc.constantFrom("ready", "recovered", "retry", "leasedFirst", "leasedRetry"),
  dueInMs: momentMs,
  leaseInMs: momentMs,
});

let database: TestDatabase;
const places: Place[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  for (let n = 0; n < PLACES; n++) places.push(await makePlace(database.pool));
  // A property run rewrites the rows at will; transitions are not its subject.
  await database.pool.query("ALTER TABLE sluice.delivery DISABLE TRIGGER USER");
});

afterAll(() => database.drop());

const AT = (parameter: string) => `to_timestamp((${NOW_MS} + ${parameter}) / 1000.0)`;

async function writePlace(index: number, state: RandomPlace): Promise<void> {
  const { tenantId, destinationId } = places[index] as Place;
  const pause = (table: string) =>
    `UPDATE sluice.${table} SET paused_at = CASE WHEN $2::float8 IS NOT NULL THEN now() END, pause_reason = CASE WHEN $2 IS NOT NULL THEN 'test' END,
            pause_until = ${AT("$2::float8")}, deleted_at = CASE WHEN $3 THEN now() END WHERE id = $1`;
  await database.pool.query(pause("tenant"), [
    tenantId,
    state.tenantPauseInMs,
    state.stopped === "tenant deleted",
  ]);
  await database.pool.query(pause("destination"), [
    destinationId,
    state.destinationPauseInMs,
    state.stopped === "deleted",
  ]);
  await database.pool.query(
    `UPDATE sluice.destination SET disabled_at = CASE WHEN $2 THEN now() END, disabled_reason = CASE WHEN $2 THEN 'test' END WHERE id = $1`,
    [destinationId, state.stopped === "disabled"],
  );
  await database.pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, hold_until) VALUES ($1, 'us', ${AT("$2::float8")})
     ON CONFLICT (destination_id) DO UPDATE SET hold_until = EXCLUDED.hold_until`,
    [destinationId, state.gateInMs],
  );
}

async function writeRows(rows: readonly RandomRow[]): Promise<void> {
  await database.pool.query("TRUNCATE sluice.delivery");
  await database.pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                  due_at, first_due_at, state, lane, attempts, lease_until, lease_token, leased_at, leased_by)
     SELECT gen_random_uuid(), 'us', r.tenant, r.destination, gen_random_uuid(), 7, 'test.event', 'k', r.class::sluice.service_class,
            ${AT("r.due")}, ${AT("r.due")}, CASE WHEN r.kind LIKE 'leased%' THEN 'leased' WHEN r.kind = 'ready' THEN 'ready' ELSE 'delayed' END::sluice.delivery_state,
            CASE WHEN r.kind IN ('retry', 'leasedRetry') THEN 'retry' ELSE 'first' END::sluice.lane,
            CASE WHEN r.kind IN ('ready', 'leasedFirst') THEN 0 ELSE 1 END,
            CASE WHEN r.kind LIKE 'leased%' THEN ${AT("r.lease")} END, CASE WHEN r.kind LIKE 'leased%' THEN gen_random_uuid() END,
            CASE WHEN r.kind LIKE 'leased%' THEN now() END, CASE WHEN r.kind LIKE 'leased%' THEN gen_random_uuid() END
       FROM json_to_recordset($1) AS r(tenant uuid, destination uuid, class text, kind text, due float8, lease float8)`,
    [
      JSON.stringify(
        rows.map((row) => ({
          tenant: places[row.place]?.tenantId,
          destination: places[row.place]?.destinationId,
          class: row.serviceClass,
          kind: row.kind,
          due: row.dueInMs,
          lease: row.leaseInMs,
        })),
      ),
    ],
  );
}

async function bySql(): Promise<Answer[]> {
  const age = (column: string) => `(extract(epoch FROM ${AT("0")} - ${column}) * 1000)::float8`;
  const result = await database.pool.query<Answer>(
    `SELECT tenant_id, destination_id, service_class, held_why, ${age("first_due_at")} AS first_ms, due_count, ${age("due_since")} AS due_ms,
            held_count, ${age("held_since")} AS held_ms, gated_count, ready, delayed, in_flight,
            retry_due_count AS retry_count, ${age("retry_due_since")} AS retry_ms FROM sluice.queue_age(${AT("0")})`,
  );
  return result.rows;
}

function ageRow(row: RandomRow, state: RandomPlace, regionDraining: boolean): AgeRow {
  const retry = row.kind === "retry" || row.kind === "leasedRetry";
  const leased = row.kind === "leasedFirst" || row.kind === "leasedRetry";
  return {
    state: leased ? "leased" : row.kind === "ready" ? "ready" : "delayed",
    lane: retry ? "retry" : "first",
    attemptsWithOutcome: retry ? 1 : 0,
    dueMs: NOW_MS + row.dueInMs,
    firstDueMs: NOW_MS + row.dueInMs,
    createdMs: NOW_MS - 7_200_000,
    gateUntilMs: state.gateInMs === null ? null : NOW_MS + state.gateInMs,
    tenantPaused: (state.tenantPauseInMs ?? 0) > 0,
    destinationPaused: (state.destinationPauseInMs ?? 0) > 0,
    destinationDisabled: state.stopped !== "no",
    regionDraining,
    leaseUntilMs: leased ? NOW_MS + row.leaseInMs : null,
  };
}

/** The TypeScript summary in the shape of the SQL's answer. */
function expectedOf(
  age: QueueAge,
  delayed: { readonly count: number; readonly oldestMs: number },
): Omit<Answer, "tenant_id" | "destination_id" | "service_class" | "held_why"> {
  return {
    first_ms: age.firstAttemptAgeMs,
    due_count: age.dueUnclaimed.count,
    due_ms: age.dueUnclaimed.oldestMs,
    held_count: age.held.count,
    held_ms: age.held.oldestMs,
    gated_count: age.gated,
    ready: age.ready,
    delayed: age.delayed,
    in_flight: age.inFlight,
    retry_count: delayed.count,
    retry_ms: delayed.oldestMs,
  };
}

describe("SIG-8 one definition", () => {
  it("sluice.queue_age is domain/queue-age.ts, for each destination and class, on random rows", async () => {
    const everything = fc.tuple(
      fc.tuple(randomPlace, randomPlace, randomPlace),
      fc.array(randomRow, { minLength: 1, maxLength: MAX_ROWS }),
      fc.constantFrom(false, false, false, true),
    );
    await fc.assert(
      fc.asyncProperty(everything, async ([states, rows, draining]) => {
        await database.pool.query("UPDATE sluice.region_control SET draining = $1, drain_reason = 'test'", [
          draining,
        ]);
        for (const [index, state] of states.entries()) await writePlace(index, state);
        await writeRows(rows);
        const answers = await bySql();
        const groups = Map.groupBy(rows, (row) => `${places[row.place]?.destinationId} ${row.serviceClass}`);
        expect(answers).toHaveLength(groups.size);
        for (const answer of answers) {
          const group = groups.get(`${answer.destination_id} ${answer.service_class}`) ?? [];
          const state = states[group[0]?.place ?? 0] as RandomPlace;
          const ageRows = group.map((row) => ageRow(row, state, draining));
          const summary = summarizeQueueAge(ageRows, NOW_MS);
          const expected = expectedOf(summary, delayedLag(ageRows, NOW_MS));
          // SQL says null where there is nothing to age; TypeScript says 0.
          const { first_ms, due_ms, held_ms, retry_ms, ...counts } = answer;
          expect({
            ...counts,
            first_ms: first_ms ?? 0,
            due_ms: due_ms ?? 0,
            held_ms: held_ms ?? 0,
            retry_ms: retry_ms ?? 0,
          }).toMatchObject(expected);
          const reasons = Object.entries(summary.held.byReason)
            .filter(([, n]) => n > 0)
            .map(([reason]) => reason);
          if (reasons.length > 0) expect([answer.held_why]).toEqual(reasons);
        }
      }),
      { numRuns: 150 },
    );
  });
});
