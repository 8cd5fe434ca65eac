/**
 * What people and the product's own rules did in a span of time, for the vertical lines of charts: pauses, limits, claims,
 * gates, disabling. Only what was done, only what bears on the numbers shown, and never the reason's text of another tenant.
 */
import { toPublicId } from "#domain/ids.ts";
import type { Reader } from "./read-region.ts";
import { type SeriesLevel, tenantsOfLevel } from "./series-level.ts";

/** Most lines of a chart; the newest are kept. */
export const MAX_ANNOTATIONS = 50;

/** The actions that can move a line of a chart. */
export const ANNOTATED_ACTIONS = [
  "tenant.pause",
  "tenant.resume",
  "tenant.limits",
  "tenant.weight",
  "destination.pause",
  "destination.resume",
  "destination.limits",
  "destination.disable",
  "destination.enable",
  "destination.open_gate",
  "destination.pin_adaptive",
  "destination.unpin_adaptive",
  "region.stop_claims",
  "region.start_claims",
  "region.defaults",
] as const;

export interface Annotation {
  /** `aud_...` */
  id: string;
  /** Milliseconds since 1970. */
  t: number;
  action: string;
  /** The tenant's or destination's name; null for the region. */
  target: string | null;
  actor: string;
  reason: string;
}

/** $1 from, $2 to, $3 actions, $4 tenants, $5 the destination. What is done to the region bears on everybody in it. */
const ANNOTATIONS = `
  SELECT o.id, (extract(epoch FROM o.at) * 1000)::double precision AS t, o.action, o.actor, o.reason,
         coalesce(x.name, CASE WHEN o.target_kind = 'tenant' THEN t.name END) AS target
    FROM sluice.operator_action o
    LEFT JOIN sluice.tenant t ON t.id = o.tenant_id
    LEFT JOIN sluice.destination x
      ON o.target_kind = 'destination' AND x.id = CASE WHEN o.target_id ~ '^dst_[0-9a-f]{32}$' THEN substr(o.target_id, 5)::uuid END
   WHERE o.at BETWEEN $1 AND $2 AND o.result = 'done' AND o.action = ANY ($3)
     AND ($4::uuid[] IS NULL OR o.target_kind = 'region' OR o.tenant_id = ANY ($4))
     AND ($5::text IS NULL OR o.target_kind <> 'destination' OR o.target_id = $5)
   ORDER BY o.at DESC, o.id DESC LIMIT ${MAX_ANNOTATIONS}`;

/** Oldest first. */
export async function readAnnotations(
  sql: Reader,
  level: SeriesLevel,
  from: Date,
  to: Date,
): Promise<Annotation[]> {
  const destinationId = level.kind === "destination" ? toPublicId("dst", level.destinationId) : null;
  const rows = await sql<Annotation>(ANNOTATIONS, [
    from,
    to,
    [...ANNOTATED_ACTIONS],
    tenantsOfLevel(level),
    destinationId,
  ]);
  return rows.reverse().map((row) => ({ ...row, id: toPublicId("aud", row.id) }));
}
