/**
 * One page of a region's dead letters, latest death first. Dead letters wait for a person: nothing here removes one.
 * Reads envelopes and the stored evidence in words, never a body.
 */
import type { DeadClass, DeadReason, ServiceClass } from "#domain/delivery.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { readTimedCursor, writeCursor } from "./cursor.ts";
import { type CauseFilter, filterTerms } from "./dead-letter-terms.ts";
import { latestDeath } from "./list-dead-letter-groups.ts";
import {
  type DestinationName,
  destinationName,
  NAME_COLUMNS,
  type NameRow,
  type TenantName,
  tenantName,
} from "./names.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";

/** Of its cursors. */
const LIST = "dead-letters";

export const DEATH_RANGES = { "1h": 3_600, "6h": 21_600, "24h": 86_400, "7d": 604_800 } as const;
export type DeathRange = keyof typeof DEATH_RANGES;

export interface DeadLetterFilter extends CauseFilter {
  region: Region;
  /** `dlg_...`: only entries of this cause. */
  group?: string | undefined;
  /** no: only those that can still be replayed. yes: only those that will not be. */
  marked?: "yes" | "no" | undefined;
  /** Died within this time before now. */
  range?: DeathRange | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface DeadLetterRow {
  /** `dlv_...`: a dead letter is the same delivery. */
  id: string;
  /** `dlg_...`; null for a row that was written without one. */
  groupId: string | null;
  tenant: TenantName;
  destination: DestinationName;
  eventType: string;
  serviceClass: ServiceClass;
  reason: DeadReason;
  reasonClass: DeadClass;
  lastStatus: number | null;
  lastOutcome: string | null;
  lastDetail: string | null;
  attempts: number;
  failures: number;
  throttles: number;
  /** Times that it was brought back before it died again. */
  replays: number;
  cycle: number;
  createdAt: string;
  firstFailureAt: string | null;
  diedAt: string;
  /**
   * kept: its body is there, and stays as long as this entry does: retention keeps the payloads of dead letters. erased: a
   * person has erased it, a replay would end as payload_erased. restricted: so it would too, but a person can give it back.
   * missing: there is no row of it.
   */
  payload: "kept" | "erased" | "restricted" | "missing";
  payloadErasedAt: string | null;
  willNotReplay: boolean;
  willNotReplayReason: string | null;
  version: number;
}

export interface DeadLetterPage {
  rows: DeadLetterRow[];
  next: string | null;
  /** When the latest one of the region and the scope died, whatever the filter; null when there is none. */
  latestDiedAt: string | null;
}

/** Reads one page of what the scope covers. @throws SluiceError `not_found` for a region outside it, `bad_cursor`, `bad_id`. */
export async function listDeadLetters(
  access: AccessScope,
  filter: DeadLetterFilter,
): Promise<RegionAnswer<DeadLetterPage>> {
  const tenants = tenantsIn(access, filter.region);
  const { text, values } = pageStatement(filter, tenants);
  return readRegion(filter.region, async (sql) => {
    const found = await sql<DeadRow>(text, values);
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(toRow),
      next:
        found.length > filter.limit && last ? writeCursor(LIST, { id: last.id, at: last.position }) : null,
      latestDiedAt: await latestDeath(sql, tenants),
    };
  });
}

/** The newest entries of one cause, for its panel. */
export async function readSampleEntries(
  sql: Reader,
  tenants: TenantScope,
  entry: { region: Region; group: string; limit: number },
): Promise<DeadLetterRow[]> {
  const { text, values } = pageStatement(entry, tenants);
  return (await sql<DeadRow>(text, values)).slice(0, entry.limit).map(toRow);
}

function pageStatement(filter: DeadLetterFilter, tenants: TenantScope): { text: string; values: unknown[] } {
  const values: unknown[] = [filter.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms: string[] = [];
  if (tenants !== null) terms.push(`d.tenant_id = ANY (${bind(tenants)}::uuid[])`);
  terms.push(...filterTerms(filter, bind));
  if (filter.group !== undefined) {
    const id = bind(fromPublicId("dlg", filter.group));
    terms.push(`d.fingerprint = (SELECT fingerprint FROM sluice.dead_letter_group WHERE id = ${id}::uuid)`);
  }
  if (filter.marked !== undefined) {
    terms.push(`d.will_not_replay_at IS ${filter.marked === "yes" ? "NOT NULL" : "NULL"}`);
  }
  if (filter.range !== undefined) {
    terms.push(
      `d.died_at > clock_timestamp() - ${bind(DEATH_RANGES[filter.range])}::integer * interval '1 second'`,
    );
  }
  if (filter.cursor !== undefined) {
    const { id, at } = readTimedCursor(LIST, filter.cursor);
    const moment = `${bind(at)}::timestamptz`;
    terms.push(`d.died_at <= ${moment} AND (d.died_at < ${moment} OR d.id > ${bind(id)}::uuid)`);
  }
  const condition = terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "";
  const text = `
    SELECT d.id, d.event_type, d.service_class, d.reason, d.reason_class, d.last_status, d.last_outcome, d.version,
           left(d.last_detail, 500) AS last_detail, d.attempts, d.failures, d.throttles, d.cycle, d.created_at, d.died_at,
           d.first_failure_at, d.position, d.will_not_replay_at IS NOT NULL AS will_not_replay, d.will_not_replay_reason,
           g.id AS group_id, p.id IS NOT NULL AS has_payload, p.erased_at,
           pr.payload_id IS NOT NULL AS restricted, ${NAME_COLUMNS}
      FROM (SELECT d.*,
                   -- With microseconds, which a JavaScript date would cut.
                   to_char(d.died_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
              FROM sluice.dead_letter d ${condition} ORDER BY d.died_at DESC, d.id LIMIT $1) d
      LEFT JOIN sluice.dead_letter_group g ON g.fingerprint = d.fingerprint
      LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
      LEFT JOIN sluice.destination x ON x.id = d.destination_id
      LEFT JOIN LATERAL (SELECT p.id, p.erased_at FROM sluice.payload p WHERE p.id = d.payload_id) p ON true
      LEFT JOIN sluice.payload_restricted pr ON pr.payload_id = d.payload_id
     ORDER BY d.died_at DESC, d.id`;
  return { text, values };
}

interface DeadRow extends NameRow {
  id: string;
  group_id: string | null;
  event_type: string;
  service_class: ServiceClass;
  reason: DeadReason;
  reason_class: DeadClass;
  last_status: number | null;
  last_outcome: string | null;
  last_detail: string | null;
  attempts: number;
  failures: number;
  throttles: number;
  cycle: number;
  created_at: Date;
  first_failure_at: Date | null;
  died_at: Date;
  position: string;
  has_payload: boolean;
  erased_at: Date | null;
  restricted: boolean;
  will_not_replay: boolean;
  will_not_replay_reason: string | null;
  version: number;
}

function toRow(row: DeadRow): DeadLetterRow {
  return {
    id: toPublicId("dlv", row.id),
    groupId: row.group_id === null ? null : toPublicId("dlg", row.group_id),
    tenant: tenantName(row),
    destination: destinationName(row),
    eventType: row.event_type,
    serviceClass: row.service_class,
    reason: row.reason,
    reasonClass: row.reason_class,
    lastStatus: row.last_status,
    lastOutcome: row.last_outcome,
    lastDetail: row.last_detail,
    attempts: row.attempts,
    failures: row.failures,
    throttles: row.throttles,
    replays: row.cycle - 1,
    cycle: row.cycle,
    createdAt: row.created_at.toISOString(),
    firstFailureAt: row.first_failure_at?.toISOString() ?? null,
    diedAt: row.died_at.toISOString(),
    payload: payloadOf(row),
    payloadErasedAt: row.restricted ? null : (row.erased_at?.toISOString() ?? null),
    willNotReplay: row.will_not_replay,
    willNotReplayReason: row.will_not_replay_reason,
    version: row.version,
  };
}

function payloadOf(row: Pick<DeadRow, "has_payload" | "erased_at" | "restricted">): DeadLetterRow["payload"] {
  if (!row.has_payload) return "missing";
  if (row.restricted) return "restricted";
  return row.erased_at === null ? "kept" : "erased";
}
