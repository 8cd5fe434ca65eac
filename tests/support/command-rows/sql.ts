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
