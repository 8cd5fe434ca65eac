/** Changes of access are audited in the console's own database, in the transaction of the change. */
import type { Pool, PoolClient } from "pg";
import type { Role } from "#domain/permissions.ts";
import { transact as transactWithin } from "../../transact.ts";

/** Who changes it, and why. */
export interface AuditedChange {
  /** `user:ann@example.com`, `token:deploy`, `cli:ann`. */
  readonly actor: string;
  readonly role: Role;
  /** 1 to 500 characters. */
  readonly reason: string;
  readonly correlationId: string;
}

export interface AccessSubject {
  /** `grant.add` */
  readonly action: string;
  readonly kind: "user" | "service_token" | "request";
  /** Public id; of a request its method and path. */
  readonly id: string;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Writes the audit row of a change that is made in the same transaction. */
export function auditAccess(
  client: Pick<PoolClient, "query">,
  by: AuditedChange,
  subject: AccessSubject,
): Promise<void> {
  return insert(client, by, subject, "done");
}

/** Writes down that somebody tried what they may not. */
export function auditDenied(
  pool: Pick<Pool, "query">,
  by: AuditedChange,
  subject: AccessSubject,
): Promise<void> {
  return insert(pool, by, subject, "denied");
}

/** The region is that of the database: a row of the audit has one. */
async function insert(
  client: Pick<PoolClient, "query">,
  by: AuditedChange,
  subject: AccessSubject,
  result: "done" | "denied",
): Promise<void> {
  await client.query(
    `INSERT INTO sluice.operator_action
       (id, region, actor, actor_role, action, target_kind, target_id, reason, after, result, correlation_id)
     SELECT gen_random_uuid(), rc.region, $1, $2, $3, $4, $5, $6, $7, $9, $8 FROM sluice.region_control rc`,
    [
      by.actor,
      by.role,
      subject.action,
      subject.kind,
      subject.id,
      by.reason,
      subject.after === undefined ? null : JSON.stringify(subject.after),
      by.correlationId,
      result,
    ],
  );
}

/** Runs `work` in one transaction of the console's own database, whose pool bounds its statements. */
export function transact<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return transactWithin(pool, {}, work);
}
