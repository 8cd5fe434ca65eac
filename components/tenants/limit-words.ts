/** The concurrency limit of a tenant in one sentence: what is wanted, what is allowed now, and why they differ. */
import type { LimitWhy, TenantNumbers } from "#db/console/read-tenant-numbers.ts";

const WHY: Readonly<Record<LimitWhy, string>> = {
  paused: "the tenant is paused",
  draining: "claims are stopped in this region",
  other_owner: "its claims were handed over to another program",
  resume_ramp: "what was due before the resume leaves slowly at first",
};

/** "Limit 20, inherited from the region. 4 now: what was due before the resume leaves slowly at first." */
export function limitText({ limit, desired, effective, why }: TenantNumbers["concurrency"]): string {
  const own = `Limit ${desired}, ${limit === null ? "inherited from the region" : "its own"}.`;
  return why === null ? own : `${own} ${effective} now: ${WHY[why]}.`;
}
