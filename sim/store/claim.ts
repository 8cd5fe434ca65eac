/**
 * sluice.claim over the simulated tables, step by step as the SQL function does it. It must never know more than the
 * function: whatever it answers is compared with Postgres by random scripts.
 */
import type { Claim, ClaimBlocker, ClaimEntry, ClaimRequest, EntryResult, Pace } from "#db/queue/claim.ts";
import { RATE_AHEAD_MS } from "#domain/rate.ts";
import type { Us } from "#sim/scheduler.ts";
import { countLeases, type Leases } from "./claim-leases.ts";
import { type Chosen, choose, findRows } from "./claim-rows.ts";
import { type Ramp, rampOf } from "./resume-ramp.ts";
import type { Database, DestinationTableRow, StateRow, Tables, TenantRow } from "./tables.ts";
import { MS, SECOND, seconds, toDateMs, toFloatMs } from "./time.ts";

/** How long before it is there a rate's token may be taken. */
const AHEAD_US = RATE_AHEAD_MS * MS;
/** Tolerance of the rounding of intervals, in tokens. */
const TOKEN_SLACK = 0.000001;
const PROBE_LATE_US = 2 * SECOND;
const PROBE_EARLY_US = SECOND;

/** One entry with what is known about it before any row is looked at. */
export interface Guarded {
  readonly ord: number;
  readonly entry: ClaimEntry;
  readonly blocker: ClaimBlocker | null;
  readonly blockedUntilUs: Us | null;
  readonly destinationRoom: number;
  readonly tenantRoom: number;
  readonly adapted: boolean;
  readonly watched: boolean;
  readonly ramp: Ramp | null;
  readonly oldRoom: number;
  readonly tenantOldRoom: number;
  readonly rate: EntryRate | null;
}

interface EntryRate {
  readonly perSecond: number;
  readonly burst: number;
  readonly storedTatUs: Us | null;
  readonly tatUs: Us;
  readonly tokens: number;
  readonly ramp: {
    perSecond: number;
    burst: number;
    storedTatUs: Us | null;
    tatUs: Us;
    tokens: number;
  } | null;
}

/** An entry with the rows that it may take. */
export interface Clipped extends Guarded {
  readonly allowed: number;
  readonly k: number;
  readonly oldK: number;
}

interface Counted extends Clipped {
  readonly n: number;
  readonly oldN: number;
  readonly found: number;
  /** Rows that earlier entries of the call have taken for the destination, and all of its entries together. */
  readonly before: number;
  readonly allN: number;
  readonly allOldN: number;
}

export function claimRows(database: Database, request: ClaimRequest): Claim {
  const { tables } = database;
  const nowUs = database.nowUs();
  const token = database.uuid();
  const untilUs = nowUs + request.leaseMs * MS;
  const leases = countLeases(tables, nowUs, request.workerId);
  const guarded = request.entries.map((entry, ord) =>
    guard(tables, nowUs, request.owner, entry, ord, leases),
  );
  const clipped = clip(guarded);
  const found = findRows(tables, nowUs, clipped, leases.suspects === 0);
  const chosen = choose(found, request.maxBytes, (tenantId) => database.hash(tenantId + token));
  for (const { row } of chosen) {
    Object.assign(row, {
      state: "leased",
      leaseToken: token,
      leaseUntilUs: untilUs,
      leasedAtUs: nowUs,
      leasedBy: request.workerId,
    });
  }
  const counted = count(clipped, found, chosen);
  spend(tables, counted);
  return {
    claimedAtMs: toDateMs(nowUs),
    token,
    leaseUntilMs: toDateMs(untilUs),
    ids: chosen.toSorted((a, b) => a.ord - b.ord || (a.row.id < b.row.id ? -1 : 1)).map(({ row }) => row.id),
    entries: counted.map((entry) => judge(tables, entry)),
    paces: counted.map(paceOf),
    watched: counted.map(({ watched }) => watched),
  };
}

function guard(
  tables: Tables,
  nowUs: Us,
  owner: string,
  entry: ClaimEntry,
  ord: number,
  leases: Leases,
): Guarded {
  const tenant = tables.tenants.get(entry.tenantId);
  const own = tables.destinations.get(entry.destinationId);
  const destination = own?.tenantId === entry.tenantId ? own : undefined;
  const state = tables.states.get(entry.destinationId);
  const probe = probeOf(tables, state, nowUs);
  const block = blockerOf(tables, nowUs, owner, tenant, destination, state, probe?.dueUs ?? null);
  const destinationCap = destination?.concurrencyLimit ?? tables.defaultDestinationConcurrency;
  const tenantCap = tenant?.concurrencyLimit ?? tables.defaultTenantConcurrency;
  const limit = Math.min(destinationCap, state?.adaptiveLimit ?? destinationCap);
  const leased = leases.of(entry.tenantId, entry.destinationId);
  const ofTenant = leases.ofTenant(entry.tenantId);
  const ramp = tenant && destination ? rampOf(tenant, destination, nowUs) : null;
  return {
    ord,
    entry,
    ...block,
    destinationRoom: roomOf(state, probe, entry, limit) - leased.n,
    tenantRoom: tenantCap - ofTenant.n,
    adapted: state?.adaptiveLimit != null && state.adaptiveLimit < destinationCap,
    watched: state !== undefined && isWatched(state),
    ramp,
    oldRoom: Math.max(1, Math.floor(limit * (ramp?.part ?? 1))) - leased.old,
    tenantOldRoom: Math.max(1, Math.floor(tenantCap * (ramp?.tenantPart ?? 1))) - ofTenant.old,
    rate: rateOf(tables, nowUs, destination, ramp),
  };
}

type Probe = { lane: string; serviceClass: string; dueUs: Us };

/** The delivery that shut the gate, while it may still be the probe. */
function probeOf(tables: Tables, state: StateRow | undefined, nowUs: Us): Probe | null {
  if (!state?.probing || state.holdDeliveryId === null) return null;
  const row = tables.deliveries.get(state.holdDeliveryId);
  if (row === undefined || row.state === "leased") return null;
  return row.dueUs >= nowUs - PROBE_LATE_US && row.dueUs <= nowUs + PROBE_EARLY_US ? row : null;
}

function blockerOf(
  tables: Tables,
  nowUs: Us,
  owner: string,
  tenant: TenantRow | undefined,
  destination: DestinationTableRow | undefined,
  state: StateRow | undefined,
  probeDueUs: Us | null,
): { blocker: ClaimBlocker | null; blockedUntilUs: Us | null } {
  const is = (blocker: ClaimBlocker | null, blockedUntilUs: Us | null = null) => ({
    blocker,
    blockedUntilUs,
  });
  if (!tenant || !destination || tenant.deletedAtUs !== null || destination.deletedAtUs !== null)
    return is("deleted");
  if (tables.draining) return is("region_draining");
  if (tables.claimOwner !== owner || tenant.claimOwner !== owner) return is("other_owner");
  if (tenant.pausedAtUs !== null && (tenant.pauseUntilUs ?? 0) > nowUs)
    return is("tenant_paused", tenant.pauseUntilUs);
  if (destination.pausedAtUs !== null && (destination.pauseUntilUs ?? 0) > nowUs) {
    return is("destination_paused", destination.pauseUntilUs);
  }
  if (destination.disabledAtUs !== null) return is("destination_disabled");
  const holdUs = Math.max(state?.holdUntilUs ?? 0, probeDueUs ?? 0);
  if (holdUs > nowUs) return is("gate", holdUs);
  if (state?.breaker === "open" && (state.breakerUntilUs ?? 0) > nowUs)
    return is("breaker", state.breakerUntilUs);
  return is(null);
}

/** Requests at once, before those that are leased already are taken off. */
function roomOf(state: StateRow | undefined, probe: Probe | null, entry: ClaimEntry, limit: number): number {
  if (state?.probing) {
    const others = probe !== null && (probe.lane !== entry.lane || probe.serviceClass !== entry.serviceClass);
    return others ? 0 : 1;
  }
  return state?.breaker === "open" ? 1 : limit;
}

function isWatched(state: StateRow): boolean {
  return (
    state.adaptiveLimit !== null ||
    state.breaker === "open" ||
    state.failuresSinceSuccess > 0 ||
    state.downInRow > 0
  );
}

function rateOf(
  tables: Tables,
  nowUs: Us,
  destination: DestinationTableRow | undefined,
  ramp: Ramp | null,
): EntryRate | null {
  if (!destination || destination.ratePerSecond === null) return null;
  const perSecond = destination.ratePerSecond;
  const burst = destination.rateBurst;
  const stored = tables.rates.get(destination.id);
  const tatUs = Math.max(
    nowUs,
    Math.min(stored?.tatUs ?? nowUs, nowUs + AHEAD_US + seconds(burst / perSecond)),
  );
  const tokens = Math.max(
    0,
    Math.floor(burst - ((tatUs - nowUs - AHEAD_US) / SECOND) * perSecond + TOKEN_SLACK),
  );
  return {
    perSecond,
    burst,
    storedTatUs: stored?.tatUs ?? null,
    tatUs,
    tokens,
    ramp:
      ramp === null
        ? null
        : rampRateOf(
            nowUs,
            perSecond * ramp.part,
            Math.max(1, Math.floor(burst * ramp.part)),
            stored?.rampTatUs ?? null,
          ),
  };
}

function rampRateOf(nowUs: Us, perSecond: number, burst: number, storedTatUs: Us | null): EntryRate["ramp"] {
  const tatUs = Math.max(nowUs, Math.min(storedTatUs ?? nowUs, nowUs + seconds(burst / perSecond)));
  const tokens = Math.floor(burst - ((tatUs - nowUs) / SECOND) * perSecond + TOKEN_SLACK);
  return { perSecond, burst, storedTatUs, tatUs, tokens };
}

/** Cumulative over the entries of the call: entries of one destination or tenant share its room and its tokens. */
function clip(guarded: readonly Guarded[]): Clipped[] {
  const wantedBefore = new Map<string, number>();
  const allowedBefore = new Map<string, number>();
  const takenBefore = new Map<string, number>();
  const rampTakenBefore = new Map<string, number>();
  const sum = (sums: Map<string, number>, key: string, add: number): number => {
    const before = sums.get(key) ?? 0;
    sums.set(key, before + add);
    return before;
  };
  return guarded.map((item) => {
    const { entry, blocker, destinationRoom, ramp, rate } = item;
    const counts = blocker === null && destinationRoom > 0;
    const wanted = sum(wantedBefore, entry.destinationId, counts ? entry.wanted : 0);
    const room = Math.min(destinationRoom, rate?.tokens ?? Number.POSITIVE_INFINITY);
    const allowed = blocker === null ? Math.max(0, Math.min(entry.wanted, room - wanted)) : 0;
    const k = Math.max(0, Math.min(allowed, item.tenantRoom - sum(allowedBefore, entry.tenantId, allowed)));
    const ofDestination = sum(takenBefore, entry.destinationId, k);
    const ofTenant = sum(rampTakenBefore, entry.tenantId, ramp === null ? 0 : k);
    if (ramp === null) return { ...item, allowed, k, oldK: k };
    const own = Math.min(item.oldRoom, rate?.ramp?.tokens ?? Number.POSITIVE_INFINITY) - ofDestination;
    return { ...item, allowed, k, oldK: Math.max(0, Math.min(k, own, item.tenantOldRoom - ofTenant)) };
  });
}

function count(clipped: readonly Clipped[], found: readonly Chosen[], chosen: readonly Chosen[]): Counted[] {
  const numbers = clipped.map(() => ({ n: 0, oldN: 0, found: 0 }));
  for (const { ord } of found) (numbers[ord] as { found: number }).found += 1;
  for (const { ord, old } of chosen) {
    const own = numbers[ord] as { n: number; oldN: number };
    own.n += 1;
    if (old) own.oldN += 1;
  }
  const all = new Map<string, { n: number; oldN: number }>();
  const befores = clipped.map((item, ord) => {
    const own = numbers[ord] as { n: number; oldN: number };
    const sums = all.get(item.entry.destinationId) ?? { n: 0, oldN: 0 };
    const before = sums.n;
    all.set(item.entry.destinationId, { n: sums.n + own.n, oldN: sums.oldN + own.oldN });
    return before;
  });
  return clipped.map((item, ord) => {
    const sums = all.get(item.entry.destinationId) as { n: number; oldN: number };
    const own = numbers[ord] as { n: number; oldN: number; found: number };
    return { ...item, ...own, before: befores[ord] as number, allN: sums.n, allOldN: sums.oldN };
  });
}

function spend(tables: Tables, counted: readonly Counted[]): void {
  for (const { entry, rate, allN, allOldN } of counted) {
    if (rate === null) continue;
    const cut =
      (rate.storedTatUs ?? 0) > rate.tatUs ||
      (rate.ramp !== null && (rate.ramp.storedTatUs ?? 0) > rate.ramp.tatUs);
    if (allN === 0 && !cut) continue;
    tables.rates.set(entry.destinationId, {
      tatUs: rate.tatUs + seconds(allN / rate.perSecond),
      rampTatUs: rate.ramp === null ? null : rate.ramp.tatUs + seconds(allOldN / rate.ramp.perSecond),
    });
  }
}

function judge(tables: Tables, item: Counted): EntryResult {
  const blocker = whyOf(tables, item);
  const { rate, n, allN, allOldN } = item;
  const dateMs = (us: Us | null) => (us === null ? null : toDateMs(us));
  let untilUs: Us | null = blocker === item.blocker ? item.blockedUntilUs : null;
  if (blocker === "rate" && rate !== null)
    untilUs = rate.tatUs + seconds((allN + 1 - rate.burst) / rate.perSecond);
  if (blocker === "resume_ramp" && rate?.ramp) {
    untilUs = rate.ramp.tatUs + seconds((allOldN + 1 - rate.ramp.burst) / rate.ramp.perSecond);
  }
  return { taken: n, blocker, untilMs: dateMs(untilUs) };
}

/** When the tokens of the entry's rows are there. */
function paceOf({ rate, n, before }: Counted): Pace | null {
  if (rate === null || n === 0) return null;
  const startUs = rate.tatUs + seconds((before + 1 - rate.burst) / rate.perSecond);
  return { startMs: toFloatMs(startUs), gapMs: 1000 / rate.perSecond, burst: rate.burst };
}

function whyOf(tables: Tables, item: Counted): ClaimBlocker | null {
  const { entry, n, k, oldK, oldN, ramp, rate } = item;
  if (item.blocker !== null) return item.blocker;
  if (item.found > n) return "deferred";
  if (n < k)
    return ramp !== null && oldK < k && oldN === oldK && hasOld(tables, item, ramp) ? "resume_ramp" : null;
  if (k === entry.wanted) return null;
  if (k < item.allowed) return "tenant_cap";
  if (rate !== null && rate.tokens <= item.destinationRoom) return "rate";
  return item.adapted ? "adaptive_limit" : "destination_cap";
}

/** Whether rows from before the resume still wait in the entry's lane. The function sees what it has leased as waiting. */
function hasOld(tables: Tables, { entry }: Counted, ramp: Ramp): boolean {
  for (const row of tables.deliveries.values()) {
    if (row.state === "leased" || row.lane !== entry.lane || row.serviceClass !== entry.serviceClass)
      continue;
    if (
      row.destinationId === entry.destinationId &&
      row.tenantId === entry.tenantId &&
      row.dueUs < ramp.lineUs
    )
      return true;
  }
  return false;
}
