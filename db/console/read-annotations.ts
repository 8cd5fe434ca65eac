/**
 * What people and the product did to a delivery, and to what it belongs to, while it lived: from the audit. Bounded, the
 * newest are kept. Before and after stay in the audit itself.
 */
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import type { Reader } from "./read-region.ts";

/** Annotations shown of one delivery. */
export const MAX_ANNOTATIONS = 100;
const MOST_OF_A_TARGET = 40;

export interface Annotation {
  /** `aud_...` */
  auditId: string;
  at: string;
  actor: string;
  role: string;
  /** `tenant.pause` */
  action: string;
  target: "delivery" | "dead_letter" | "payload" | "tenant" | "destination" | "region";
  /** Public id, or the region's name. */
  targetId: string;
  reason: string;
  result: "done" | "denied" | "conflict";
}

export interface AnnotatedDelivery {
  region: Region;
  /** UUIDs. */
  id: string;
  tenantId: string;
  destinationId: string;
  payloadId: string;
  createdAt: Date;
  /** Null while it lives. */
  finishedAt: Date | null;
}

/**
 * What concerns the delivery alone is shown whenever it was; what concerns its tenant, destination or region only within its
 * life. Each target is one look at the index of targets.
 */
const ANNOTATIONS = `
  SELECT a.id, a.at, a.actor, a.actor_role, a.action, a.target_kind, a.target_id, a.reason, a.result
    FROM unnest($1::text[], $2::text[], $3::boolean[]) k(kind, id, own)
   CROSS JOIN LATERAL (
     SELECT o.* FROM sluice.operator_action o
      WHERE o.target_kind = k.kind AND o.target_id = k.id
        AND (k.own OR (o.at >= $4::timestamptz AND ($5::timestamptz IS NULL OR o.at <= $5)))
      ORDER BY o.at DESC LIMIT $6) a
   ORDER BY a.at DESC, a.id DESC LIMIT $7`;

/** Oldest first. */
export async function readAnnotations(sql: Reader, delivery: AnnotatedDelivery): Promise<Annotation[]> {
  const publicId = toPublicId("dlv", delivery.id);
  const targets = [
    { kind: "delivery", id: publicId, own: true },
    { kind: "dead_letter", id: publicId, own: true },
    { kind: "payload", id: toPublicId("pay", delivery.payloadId), own: true },
    { kind: "tenant", id: toPublicId("ten", delivery.tenantId), own: false },
    { kind: "destination", id: toPublicId("dst", delivery.destinationId), own: false },
    { kind: "region", id: delivery.region, own: false },
  ];
  const rows = await sql<AnnotationRow>(ANNOTATIONS, [
    targets.map(({ kind }) => kind),
    targets.map(({ id }) => id),
    targets.map(({ own }) => own),
    delivery.createdAt,
    delivery.finishedAt,
    MOST_OF_A_TARGET,
    MAX_ANNOTATIONS,
  ]);
  return rows.reverse().map((row) => ({
    auditId: toPublicId("aud", row.id),
    at: row.at.toISOString(),
    actor: row.actor,
    role: row.actor_role,
    action: row.action,
    target: row.target_kind,
    targetId: row.target_id,
    reason: row.reason,
    result: row.result,
  }));
}

interface AnnotationRow {
  id: string;
  at: Date;
  actor: string;
  actor_role: string;
  action: string;
  target_kind: Annotation["target"];
  target_id: string;
  reason: string;
  result: Annotation["result"];
}
