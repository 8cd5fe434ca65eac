/**
 * Ends pauses whose time is over: the row says so, and the audit says that nobody had to. The claim has treated such a
 * pause as over since its end, so this is never waited for. Exactly one process ends each pause.
 */
import { toPublicId } from "#domain/ids.ts";
import type { Queryable } from "./types.ts";

/** Most pauses of one kind that a call ends. */
export const MAX_ENDED_PAUSES = 100;
/** The ramp of a pause that ended by itself, as after a resume without another wish. */
export const AUTO_RESUME_SHARE = 0.2;
/** Who the audit names. */
export const AUTO_RESUME_ACTOR = "worker";

export interface EndedPause {
  readonly kind: "tenant" | "destination";
  /** `ten_...` or `dst_...`. */
  readonly id: string;
}

const KINDS = [
  { kind: "tenant", prefix: "ten", tenantColumn: "id" },
  { kind: "destination", prefix: "dst", tenantColumn: "tenant_id" },
] as const;

/**
 * One pass. `resumed_at` is the pause's own end, so that a pass that comes late does not begin the ramp again.
 * @param newId a fresh UUIDv7 for each audit row
 */
export async function endPauses(
  pool: Queryable,
  workerId: string,
  newId: () => string,
): Promise<EndedPause[]> {
  const ended: EndedPause[] = [];
  const over = await whatIsOver(pool);
  for (const { kind, prefix, tenantColumn } of KINDS) {
    if (!over[kind]) continue;
    const ids = Array.from({ length: MAX_ENDED_PAUSES }, newId);
    const { rows } = await pool.query<{ id: string }>({
      name: `sluice-end-pauses-${kind}`,
      text: endStatement(kind, prefix, tenantColumn),
      values: [ids, AUTO_RESUME_SHARE, AUTO_RESUME_ACTOR, workerId],
    });
    ended.push(...rows.map(({ id }) => ({ kind, id: toPublicId(prefix, id) })));
  }
  return ended;
}

/** The usual answer is no, every second in every process: it costs one statement and two looks at an index. */
async function whatIsOver(pool: Queryable): Promise<Record<EndedPause["kind"], boolean>> {
  const isOver = (kind: EndedPause["kind"]) =>
    `EXISTS (SELECT 1 FROM sluice.${kind} p WHERE p.paused_at IS NOT NULL AND p.pause_until <= (SELECT clock_timestamp())) AS ${kind}`;
  const { rows } = await pool.query<Record<EndedPause["kind"], boolean>>({
    name: "sluice-pauses-over",
    text: `SELECT ${isOver("tenant")}, ${isOver("destination")}`,
  });
  return rows[0] ?? { tenant: false, destination: false };
}

/** A row that another process or a person changes at this moment is passed over; it is looked at again in a second. */
function endStatement(kind: "tenant" | "destination", prefix: "ten" | "dst", tenantColumn: string): string {
  return `
    WITH over AS MATERIALIZED (
      SELECT o.id, o.paused_at, o.pause_until, o.pause_reason, o.paused_by, o.version, row_number() OVER () AS nth
        FROM (SELECT * FROM sluice.${kind} p WHERE p.paused_at IS NOT NULL AND p.pause_until <= clock_timestamp()
               ORDER BY p.pause_until LIMIT ${MAX_ENDED_PAUSES} FOR NO KEY UPDATE SKIP LOCKED) o
    ), ended AS (
      UPDATE sluice.${kind} p
         SET paused_at = NULL, pause_until = NULL, pause_reason = NULL, paused_by = NULL,
             resumed_at = o.pause_until, resume_share = $2, version = p.version + 1
        FROM over o WHERE p.id = o.id AND p.version = o.version
      RETURNING p.id, p.region, p.${tenantColumn} AS tenant_id, p.resumed_at, o.nth, o.paused_at, o.pause_until, o.pause_reason, o.paused_by
    ), named AS MATERIALIZED (SELECT e.*, '${prefix}_' || replace(e.id::text, '-', '') AS public_id FROM ended e
    ), audited AS (
      INSERT INTO sluice.operator_action
        (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, before, after, result, correlation_id)
      SELECT ($1::uuid[])[n.nth::integer], n.region, $3, 'system', '${kind}.resume', '${kind}', n.public_id, n.tenant_id, 'the pause has reached its end',
             jsonb_build_object('paused', true, 'pausedAt', n.paused_at, 'pauseUntil', n.pause_until, 'pauseReason', n.pause_reason,
                                'pausedBy', n.paused_by),
             jsonb_build_object('paused', false, 'resumedAt', n.resumed_at, 'resumeShare', $2::float8), 'done',
             -- The correlation id of the pause that ends here, so that both stand together.
             coalesce((SELECT a.correlation_id FROM sluice.operator_action a
                        WHERE a.target_kind = '${kind}' AND a.target_id = n.public_id AND a.action = '${kind}.pause' AND a.result = 'done'
                        ORDER BY a.at DESC LIMIT 1), 'worker:' || $4::text)
        FROM named n
      RETURNING 1
    )
    SELECT n.id FROM named n WHERE (SELECT count(*) FROM audited) >= 0`;
}
