/** The filters that entries and causes of dead letters share, as SQL terms and as tests of one entry. Values are only ever bound. */
import type { DeadClass, DeadReason } from "#domain/delivery.ts";
import { fromPublicId } from "#domain/ids.ts";
import type { TenantScope } from "#domain/permissions.ts";

/** How the last attempt ended: one status, a class of statuses, or a word for an end without one. */
export const CODE_WORDS = ["3xx", "4xx", "5xx", "timeout", "network"] as const;
/** `422`, `5xx`, `timeout`. */
export const CODE_SHAPE = /^(?:[1-5]\d\d|[345]xx|timeout|network)$/;

export interface CauseFilter {
  /** Slug or `ten_...`. */
  tenant?: string | undefined;
  /** `dst_...` */
  destination?: string | undefined;
  reason?: DeadReason | undefined;
  cause?: DeadClass | undefined;
  /** Of CODE_SHAPE. */
  code?: string | undefined;
}

/** The facts of an entry that a filter looks at. */
export interface EntryFacts {
  readonly destinationId: string;
  readonly reason: DeadReason;
  readonly reasonClass: DeadClass;
  readonly lastStatus: number | null;
  readonly lastOutcome: string | null;
}

/** Whether an entry matches, its tenant apart. */
export function matches(entry: EntryFacts, filter: CauseFilter): boolean {
  const { destination, reason, cause, code } = filter;
  if (destination !== undefined && entry.destinationId !== fromPublicId("dst", destination)) return false;
  if (reason !== undefined && entry.reason !== reason) return false;
  if (cause !== undefined && entry.reasonClass !== cause) return false;
  return code === undefined || matchesCode(entry, code);
}

function matchesCode({ lastStatus, lastOutcome }: EntryFacts, code: string): boolean {
  if (code.endsWith("xx")) return lastStatus !== null && Math.floor(lastStatus / 100) === Number(code[0]);
  return /^\d/.test(code) ? lastStatus === Number(code) : lastOutcome === code;
}

/** Adds a value to a statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** The same as `matches`, for the table `d`, with the tenant. */
export function filterTerms(filter: CauseFilter, bind: Bind): string[] {
  const terms: string[] = [];
  const { tenant, destination, reason, cause, code } = filter;
  if (tenant !== undefined) terms.push(tenantTerm(tenant, bind));
  if (destination !== undefined) {
    terms.push(`d.destination_id = ${bind(fromPublicId("dst", destination))}::uuid`);
  }
  if (reason !== undefined) terms.push(`d.reason = ${bind(reason)}`);
  if (cause !== undefined) terms.push(`d.reason_class = ${bind(cause)}`);
  if (code !== undefined) terms.push(codeTerm(code, bind));
  return terms;
}

function codeTerm(code: string, bind: Bind): string {
  if (code.endsWith("xx")) return `d.last_status / 100 = ${bind(Number(code[0]))}::integer`;
  return /^\d/.test(code)
    ? `d.last_status = ${bind(Number(code))}::smallint`
    : `d.last_outcome = ${bind(code)}`;
}

function tenantTerm(tenant: string, bind: Bind): string {
  return tenant.startsWith("ten_")
    ? `d.tenant_id = ${bind(fromPublicId("ten", tenant))}::uuid`
    : `d.tenant_id = (SELECT id FROM sluice.tenant WHERE slug = ${bind(tenant)})`;
}

/** The tenants of both. */
export function intersectTenants(one: TenantScope, two: readonly string[]): readonly string[] {
  return one === null ? two : two.filter((id) => one.includes(id));
}
