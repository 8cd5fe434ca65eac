/**
 * The audit of a region, newest first: who did or tried what, when, why, with which result, and what it changed. Rows are
 * only ever added; the database refuses everything else. A caller sees the rows of their tenants; rows of no tenant need
 * the region as a whole, and rows about people, tokens and requests, which belong to no region, need all of them.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { readTimedCursor, writeCursor } from "./cursor.ts";
import type { TenantName } from "./names.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

/** Of its cursors. */
const LIST = "audit";

/** As the database stores them; `ok` is how `done` is shown. */
export const AUDIT_RESULTS = ["ok", "denied", "conflict"] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

export const AUDIT_RANGES = {
  "1h": 3_600,
  "6h": 21_600,
  "24h": 86_400,
  "7d": 604_800,
  "30d": 2_592_000,
} as const;
export type AuditRange = keyof typeof AUDIT_RANGES;

/** Rows of these kinds are about access, not about a region's work. */
const ACCESS_KINDS = ["user", "service_token", "request"];
/** Actions that are offered as filters, from so many of the newest rows. */
export const MAX_ACTIONS = 100;
const MAX_ACTION_ROWS = 5_000;

export interface AuditFilter {
  region: Region;
  /** Exactly, such as `user:ann@example.com`, or `system` for what the product did by its rules. */
  actor?: string | undefined;
  /** Exactly, or a family of them: `tenant.*`. */
  action?: string | undefined;
  /** Public id, or a region's name. */
  target?: string | undefined;
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  result?: AuditResult | undefined;
  range?: AuditRange | undefined;
  /** UTC, ISO 8601; both ends belong to it. */
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export interface AuditRow {
  /** `aud_...` */
  id: string;
  at: string;
  actor: string;
  role: string;
  action: string;
  targetKind: string;
  target: string;
  region: Region;
  /** Null: of no tenant. */
  tenant: TenantName | null;
  reason: string;
  ticket: string | null;
  result: AuditResult;
  correlationId: string;
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
}

export interface AuditPage {
  rows: AuditRow[];
  next: string | null;
}

/** Reads one page. @throws SluiceError `not_found` for a region outside the scope, `bad_cursor`, `bad_id`. */
export async function listAudit(access: AccessScope, filter: AuditFilter): Promise<RegionAnswer<AuditPage>> {
  const { text, values } = pageStatement(access, filter);
  return readRegion(filter.region, async (sql) => {
    const found = await sql<Row>(text, values);
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map((row) => toRow(row, filter.region)),
      next:
        found.length > filter.limit && last ? writeCursor(LIST, { id: last.id, at: last.position }) : null,
    };
  });
}

/** The actions among the newest rows that the caller may see, for the filter. */
export async function listAuditActions(
  access: AccessScope,
  region: Region,
): Promise<RegionAnswer<{ actions: string[] }>> {
  const values: unknown[] = [];
  const terms = scopeTerms(access, region, (value) => `$${values.push(value)}`);
  const condition = terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "";
  return readRegion(region, async (sql) => {
    const rows = await sql<{ action: string }>(
      `SELECT DISTINCT r.action FROM (
         SELECT a.action FROM sluice.operator_action a ${condition} ORDER BY a.at DESC, a.id LIMIT ${MAX_ACTION_ROWS}) r
       ORDER BY 1 LIMIT ${MAX_ACTIONS}`,
      values,
    );
    return { actions: rows.map(({ action }) => action) };
  });
}

function pageStatement(access: AccessScope, filter: AuditFilter): { text: string; values: unknown[] } {
  const values: unknown[] = [filter.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms = [...scopeTerms(access, filter.region, bind), ...filterTerms(filter, bind)];
  if (filter.cursor !== undefined) {
    const { id, at } = readTimedCursor(LIST, filter.cursor);
    const moment = `${bind(at)}::timestamptz`;
    terms.push(`a.at <= ${moment} AND (a.at < ${moment} OR a.id > ${bind(id)}::uuid)`);
  }
  const condition = terms.length > 0 ? `WHERE ${terms.join(" AND ")}` : "";
  const text = `
    SELECT a.*, t.slug AS tenant_slug, t.name AS tenant_name FROM (
      SELECT a.id, a.at, a.actor, a.actor_role, a.action, a.target_kind, a.target_id, a.tenant_id, a.reason, a.ticket, a.before, a.after,
             a.result, a.correlation_id,
             -- With microseconds, which a JavaScript date would cut.
             to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
        FROM sluice.operator_action a ${condition} ORDER BY a.at DESC, a.id LIMIT $1) a
      LEFT JOIN sluice.tenant t ON t.id = a.tenant_id
     ORDER BY a.at DESC, a.id`;
  return { text, values };
}

type Bind = (value: unknown) => string;

function scopeTerms(access: AccessScope, region: Region, bind: Bind): string[] {
  const tenants = tenantsIn(access, region);
  if (tenants !== null) return [`a.tenant_id = ANY (${bind(tenants)}::uuid[])`];
  const everywhere = REGIONS.every((each) => access[each] === null);
  return everywhere ? [] : [`NOT a.target_kind = ANY (${bind(ACCESS_KINDS)}::text[])`];
}

function filterTerms(filter: AuditFilter, bind: Bind): string[] {
  const terms: string[] = [];
  const { actor, action, target, tenant, result, range, from, to } = filter;
  if (actor === "system") terms.push("a.actor_role = 'system'");
  else if (actor !== undefined) terms.push(`a.actor = ${bind(actor)}`);
  if (action !== undefined) terms.push(actionTerm(action, bind));
  if (target !== undefined) terms.push(`a.target_id = ${bind(target)}`);
  if (tenant !== undefined) {
    terms.push(
      tenant.startsWith("ten_")
        ? `a.tenant_id = ${bind(fromPublicId("ten", tenant))}::uuid`
        : `a.tenant_id = (SELECT id FROM sluice.tenant WHERE slug = ${bind(tenant)})`,
    );
  }
  if (result !== undefined) terms.push(`a.result = ${bind(result === "ok" ? "done" : result)}`);
  if (range !== undefined) {
    terms.push(`a.at > clock_timestamp() - ${bind(AUDIT_RANGES[range])}::integer * interval '1 second'`);
  }
  if (from !== undefined) terms.push(`a.at >= ${bind(from)}::timestamptz`);
  if (to !== undefined) terms.push(`a.at <= ${bind(to)}::timestamptz`);
  return terms;
}

/** `tenant.*` is every action of the family; its dot keeps `tenant` apart from `tenants`. */
function actionTerm(action: string, bind: Bind): string {
  if (!action.endsWith(".*")) return `a.action = ${bind(action)}`;
  return `starts_with(a.action, ${bind(action.slice(0, -1))})`;
}

interface Row {
  id: string;
  at: Date;
  position: string;
  actor: string;
  actor_role: string;
  action: string;
  target_kind: string;
  target_id: string;
  tenant_id: string | null;
  tenant_slug: string | null;
  tenant_name: string | null;
  reason: string;
  ticket: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  result: "done" | "denied" | "conflict";
  correlation_id: string;
}

function toRow(row: Row, region: Region): AuditRow {
  const tenantId = row.tenant_id === null ? null : toPublicId("ten", row.tenant_id);
  return {
    id: toPublicId("aud", row.id),
    at: row.at.toISOString(),
    actor: row.actor,
    role: row.actor_role,
    action: row.action,
    targetKind: row.target_kind,
    target: row.target_id,
    region,
    tenant:
      tenantId === null
        ? null
        : { id: tenantId, slug: row.tenant_slug ?? tenantId, name: row.tenant_name ?? "Deleted tenant" },
    reason: row.reason,
    ticket: row.ticket,
    result: row.result === "done" ? "ok" : row.result,
    correlationId: row.correlation_id,
    before: row.before,
    after: row.after,
  };
}
