/**
 * Why a waiting delivery has not left, told from the same rows that the claim looks at.
 * It answers with every blocker at once, the one that ends last deciding the earliest time; it never guesses one.
 */

/** What can keep a due delivery from being claimed, in the order in which staff should look at them. */
export const BLOCKER_CODES = [
  "region_draining",
  "other_owner",
  "tenant_paused",
  "destination_paused",
  "destination_disabled",
  "deleted",
  "gate",
  "probe",
  "rate",
  "destination_cap",
  "tenant_cap",
] as const;
export type BlockerCode = (typeof BLOCKER_CODES)[number];

export interface Blocker {
  code: BlockerCode;
  /** When it ends by itself, UTC; null when a person or another delivery ends it. */
  until: string | null;
  /** What was written down as its cause. */
  reason: string | null;
}

/** The claim's owner name that our workers use; another one means that the work was handed over. */
const OUR_OWNER = "sluice";

/** What the blockers are told from; the columns of `BLOCKER_COLUMNS`. */
export interface BlockerFacts {
  draining: boolean;
  drain_reason: string | null;
  region_owner: string;
  tenant_owner: string | null;
  tenant_pause_until: Date | null;
  tenant_pause_reason: string | null;
  destination_pause_until: Date | null;
  destination_pause_reason: string | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  deleted: boolean;
  hold_until: Date | null;
  hold_why: string | null;
  hold_status: number | null;
  probing: boolean | null;
  rate_free_at: Date | null;
  destination_in_flight: number;
  destination_limit: number | null;
  tenant_in_flight: number;
  tenant_limit: number | null;
}

/** Columns for a statement that has the joins below. */
export const BLOCKER_COLUMNS = `
  rc.draining, rc.drain_reason, rc.claim_owner AS region_owner, t.claim_owner AS tenant_owner,
  t.pause_until AS tenant_pause_until, t.pause_reason AS tenant_pause_reason,
  x.pause_until AS destination_pause_until, x.pause_reason AS destination_pause_reason,
  x.disabled_at, x.disabled_reason,
  (t.id IS NULL OR x.id IS NULL OR t.deleted_at IS NOT NULL OR x.deleted_at IS NOT NULL) AS deleted,
  s.hold_until, s.hold_why, s.hold_status, s.probing,
  s.rate_tat + (1 - x.rate_burst) / x.rate_per_second * interval '1 second' AS rate_free_at,
  coalesce(dl.n, 0)::integer AS destination_in_flight,
  least(coalesce(x.concurrency_limit, rc.default_destination_concurrency), s.adaptive_limit) AS destination_limit,
  coalesce(tl.n, 0)::integer AS tenant_in_flight,
  coalesce(t.concurrency_limit, rc.default_tenant_concurrency) AS tenant_limit`;

/** Joins for rows named `d` with tenant_id and destination_id. `$1` is the time of the answer. */
export const BLOCKER_JOINS = `
  CROSS JOIN sluice.region_control rc
  LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
  LEFT JOIN sluice.destination x ON x.id = d.destination_id
  LEFT JOIN sluice.destination_state s ON s.destination_id = d.destination_id
  LEFT JOIN (SELECT destination_id, count(*) AS n FROM sluice.delivery
              WHERE state = 'leased' AND lease_until > $1 GROUP BY 1) dl ON dl.destination_id = d.destination_id
  LEFT JOIN (SELECT tenant_id, count(*) AS n FROM sluice.delivery
              WHERE state = 'leased' AND lease_until > $1 GROUP BY 1) tl ON tl.tenant_id = d.tenant_id`;

/** Every blocker that stands at `asOf`, whether the delivery is already due or not. */
export function blockersOf(facts: BlockerFacts, asOf: Date): Blocker[] {
  return [...controlBlockers(facts, asOf), ...paceBlockers(facts, asOf)];
}

/** Blockers that a person or the system put up: they hold work without limit of pace. */
function controlBlockers(facts: BlockerFacts, asOf: Date): Blocker[] {
  const found: Blocker[] = [];
  if (facts.draining) found.push(blocker("region_draining", null, facts.drain_reason));
  if (facts.region_owner !== OUR_OWNER || (facts.tenant_owner ?? OUR_OWNER) !== OUR_OWNER) {
    found.push(blocker("other_owner", null, null));
  }
  if (isAhead(facts.tenant_pause_until, asOf)) {
    found.push(blocker("tenant_paused", facts.tenant_pause_until, facts.tenant_pause_reason));
  }
  if (isAhead(facts.destination_pause_until, asOf)) {
    found.push(blocker("destination_paused", facts.destination_pause_until, facts.destination_pause_reason));
  }
  if (facts.disabled_at) found.push(blocker("destination_disabled", null, facts.disabled_reason));
  if (facts.deleted) found.push(blocker("deleted", null, null));
  return found;
}

/** Blockers of pace: the gate, the rate and the caps. Work behind a rate or a cap still counts as late. */
function paceBlockers(facts: BlockerFacts, asOf: Date): Blocker[] {
  const found: Blocker[] = [];
  if (isAhead(facts.hold_until, asOf)) found.push(blocker("gate", facts.hold_until, gateReason(facts)));
  else if (facts.probing && facts.destination_in_flight > 0)
    found.push(blocker("probe", null, gateReason(facts)));
  if (isAhead(facts.rate_free_at, asOf)) found.push(blocker("rate", facts.rate_free_at, null));
  if (facts.destination_limit !== null && facts.destination_in_flight >= facts.destination_limit) {
    found.push(
      blocker("destination_cap", null, `${facts.destination_in_flight} of ${facts.destination_limit}`),
    );
  }
  if (facts.tenant_limit !== null && facts.tenant_in_flight >= facts.tenant_limit) {
    found.push(blocker("tenant_cap", null, `${facts.tenant_in_flight} of ${facts.tenant_limit}`));
  }
  return found;
}

function gateReason(facts: BlockerFacts): string | null {
  if (facts.hold_why === null) return null;
  return facts.hold_status === null ? facts.hold_why : `${facts.hold_why} (${facts.hold_status})`;
}

function isAhead(moment: Date | null, asOf: Date): boolean {
  return moment !== null && moment.getTime() > asOf.getTime();
}

function blocker(code: BlockerCode, until: Date | null, reason: string | null): Blocker {
  return { code, until: until?.toISOString() ?? null, reason };
}
