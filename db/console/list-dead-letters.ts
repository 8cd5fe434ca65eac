/**
 * One page of a region's dead letters, latest death first. Dead letters wait for a person: nothing here removes one.
 * Reads envelopes and the stored evidence in words, never a body.
 */
import type { DeadClass, DeadReason, ServiceClass } from "#domain/delivery.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import {
  type DestinationName,
  destinationName,
  NAME_COLUMNS,
  type NameRow,
  type TenantName,
  tenantName,
} from "./names.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

const TENANT_ID_SHAPE = /^ten_[0-9a-f]{32}$/;

export interface DeadLetterFilter {
  region: Region;
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  /** `dst_...` */
  destination?: string | undefined;
  reason?: DeadReason | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface DeadLetterRow {
  /** `dlv_...`: a dead letter is the same delivery. */
  id: string;
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
  cycle: number;
  createdAt: string;
  diedAt: string;
  willNotReplay: boolean;
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
  const tenantIds = tenantsIn(access, filter.region);
  const { text, values } = pageStatement(filter, tenantIds);
  return readRegion(filter.region, async (sql) => {
    const found = await sql<DeadRow>(text, values);
    const latest = await sql<{ died_at: Date }>(
      `SELECT died_at FROM sluice.dead_letter WHERE $1::uuid[] IS NULL OR tenant_id = ANY ($1)
        ORDER BY died_at DESC, id LIMIT 1`,
      [tenantIds],
    );
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(toRow),
      next: found.length > filter.limit && last ? writeCursor({ id: last.id, at: last.position }) : null,
      latestDiedAt: latest[0]?.died_at.toISOString() ?? null,
    };
  });
}

function pageStatement(
  filter: DeadLetterFilter,
  tenantIds: TenantScope,
): { text: string; values: unknown[] } {
  const values: unknown[] = [filter.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms: string[] = [];
  if (tenantIds !== null) terms.push(`d.tenant_id = ANY (${bind(tenantIds)}::uuid[])`);
  if (filter.tenant !== undefined) terms.push(tenantTerm(filter.tenant, bind));
  if (filter.destination !== undefined) {
    terms.push(`d.destination_id = ${bind(fromPublicId("dst", filter.destination))}::uuid`);
  }
  if (filter.reason !== undefined) terms.push(`d.reason = ${bind(filter.reason)}`);
  if (filter.cursor !== undefined) {
    const { id, at } = readCursor(filter.cursor);
    const moment = `${bind(at ?? new Date(0).toISOString())}::timestamptz`;
    terms.push(`d.died_at <= ${moment} AND (d.died_at < ${moment} OR d.id > ${bind(id)}::uuid)`);
  }
  const condition = terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "";
  const text = `
    SELECT d.id, d.event_type, d.service_class, d.reason, d.reason_class, d.last_status, d.last_outcome,
           left(d.last_detail, 500) AS last_detail, d.attempts, d.failures, d.throttles, d.cycle, d.created_at, d.died_at,
           -- With microseconds, which a JavaScript date would cut.
           to_char(d.died_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position,
           d.will_not_replay_at IS NOT NULL AS will_not_replay, ${NAME_COLUMNS}
      FROM sluice.dead_letter d
      LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
      LEFT JOIN sluice.destination x ON x.id = d.destination_id
      ${condition} ORDER BY d.died_at DESC, d.id LIMIT $1`;
  return { text, values };
}

function tenantTerm(tenant: string, bind: (value: unknown) => string): string {
  return TENANT_ID_SHAPE.test(tenant)
    ? `d.tenant_id = ${bind(fromPublicId("ten", tenant))}::uuid`
    : `d.tenant_id = (SELECT id FROM sluice.tenant WHERE slug = ${bind(tenant)})`;
}

interface DeadRow extends NameRow {
  id: string;
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
  died_at: Date;
  position: string;
  will_not_replay: boolean;
}

function toRow(row: DeadRow): DeadLetterRow {
  return {
    id: toPublicId("dlv", row.id),
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
    cycle: row.cycle,
    createdAt: row.created_at.toISOString(),
    diedAt: row.died_at.toISOString(),
    willNotReplay: row.will_not_replay,
  };
}
