/**
 * What tests of the controls share: a context as a caller has it, and looks at the audit. It must never write a control
 * by itself: that is what is tested.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { CommandContext } from "#db/console/commands/run-command.ts";
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import type { TestDatabase } from "../database.ts";

export const REASON = "the customer asked for it";

export function contextOf(
  database: Pick<TestDatabase, "region" | "pool">,
  changes: Partial<CommandContext> = {},
): CommandContext {
  return {
    region: database.region,
    pool: database.pool,
    actor: "user:ann",
    role: "operator",
    correlationId: randomUUID(),
    newId: () => uuidV7(Date.now(), randomBytes),
    ...changes,
  };
}

export const tenantId = (uuid: string): string => toPublicId("ten", uuid);
export const destinationId = (uuid: string): string => toPublicId("dst", uuid);

export interface AuditRow {
  readonly actor: string;
  readonly actor_role: string;
  readonly action: string;
  readonly target_id: string;
  readonly tenant_id: string | null;
  readonly reason: string;
  readonly ticket: string | null;
  readonly before: Record<string, unknown>;
  readonly after: Record<string, unknown>;
  readonly result: string;
  readonly correlation_id: string;
}

/** The audit of a target, oldest first. */
export async function readAudit(database: Pick<TestDatabase, "pool">, target: string): Promise<AuditRow[]> {
  const { rows } = await database.pool.query<AuditRow>(
    "SELECT * FROM sluice.operator_action WHERE target_id = $1 ORDER BY at, id",
    [target],
  );
  return rows;
}

/** Makes the audit of a target older, which only a test may: the trigger that refuses it is off in this transaction. */
export async function moveAuditBack(
  { pool }: Pick<TestDatabase, "pool">,
  target: string,
  seconds: number,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL session_replication_role = replica");
    await client.query(
      "UPDATE sluice.operator_action SET at = at - $2 * interval '1 second' WHERE target_id = $1",
      [target, seconds],
    );
    await client.query("COMMIT");
  } finally {
    client.release();
  }
}

/** Attempts of the present minute, by the word of their outcome, as the roll-up counts them. */
export async function addRollup(
  { pool, region }: Pick<TestDatabase, "pool" | "region">,
  ids: { readonly tenant: string; readonly destination: string },
  outcomes: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [outcome, attempts] of Object.entries(outcomes)) {
    await pool.query(
      `INSERT INTO sluice.attempt_rollup (minute, tenant_id, destination_id, service_class, outcome, decision, region, attempts,
                                          first_attempts, duration_sum_ms, duration_max_ms, duration_p95_ms)
       VALUES (date_trunc('minute', clock_timestamp()), $1, $2, 'routine', $3, 'delayed', $4, $5, 0, 0, 0, 0)`,
      [ids.tenant, ids.destination, outcome, region, attempts],
    );
  }
}

/** Delivered deliveries that were answered a moment ago after the given times in ms, with their attempts. */
export async function addAnswered(
  { pool, region }: Pick<TestDatabase, "pool" | "region">,
  ids: { readonly tenant: string; readonly destination: string },
  durationsMs: readonly number[],
): Promise<void> {
  for (const durationMs of durationsMs) {
    const id = uuidV7(Date.now(), randomBytes);
    await pool.query(
      `INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
              service_class, created_at, first_due_at, due_at, state, attempts, failures, throttles, cycle)
       VALUES ($1::uuid, $2, $3, $4, $1::uuid, 2, 'a.b', $1::uuid::text, 'routine', clock_timestamp(), clock_timestamp(), clock_timestamp(), 'delivered', 1, 0, 0, 1)`,
      [id, region, ids.tenant, ids.destination],
    );
    await pool.query(
      `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
              due_at, started_at, duration_ms, outcome, decision)
       VALUES ($1, $2, $1, $3, $4, 'routine', 'first', 1, 'http', 1, $1, clock_timestamp(), clock_timestamp() - interval '1 second', $5,
               'delivered', 'delivered')`,
      [id, region, ids.tenant, ids.destination, durationMs],
    );
  }
}
