/**
 * Judges each claim by what it left behind: the rows it leased, and the tables as they stood. Written from the rules,
 * not from the function: it counts what is leased and asks of every row whether anything held it.
 */
import type { Claim, ClaimRequest } from "#db/queue/claim.ts";
import { RATE_AHEAD_MS } from "#domain/rate.ts";
import type { DeliveryRow, DestinationTableRow, StateRow, Tables } from "#sim/store/tables.ts";
import { short } from "./row-watch.ts";
import type { Violations } from "./violations.ts";

const RUNNING = new Set(["canary", "running"]);
/** A token may be taken this much before it is there; the request waits for it. */
const AHEAD_US = RATE_AHEAD_MS * 1_000;
const SECOND_US = 1_000_000;
const ROUNDING = 0.001;

interface Grants {
  /** The limit that they were given under. */
  readonly perSecond: number;
  readonly burst: number;
  readonly atUs: number[];
}

export class ClaimWatch {
  readonly #tables: Tables;
  readonly #violations: Violations;
  readonly #grants = new Map<string, Grants>();

  constructor(tables: Tables, violations: Violations) {
    this.#tables = tables;
    this.#violations = violations;
  }

  /** @param states the destinations' gates as they were before the claim */
  judge(request: ClaimRequest, _answer: Claim, leased: readonly DeliveryRow[], nowUs: number): void {
    if (leased.length === 0) return;
    for (const row of leased) this.#row(row, request.owner, nowUs);
    const live = [...this.#tables.deliveries.values()].filter(
      (row) => row.state === "leased" && (row.leaseUntilUs ?? 0) > nowUs,
    );
    const suspects = live.filter(
      ({ leasedBy, lostLeases }) => leasedBy === request.workerId && lostLeases > 0,
    );
    if (suspects.length > 1)
      this.#violations.add("one_suspect", `${suspects.map(short).join(", ")} in one process`);
    for (const id of new Set(leased.map(({ destinationId }) => destinationId))) {
      const own = leased.filter(({ destinationId }) => destinationId === id).length;
      this.#destination(id, live.filter(({ destinationId }) => destinationId === id).length, nowUs);
      this.#rate(id, own, nowUs);
    }
    for (const id of new Set(leased.map(({ tenantId }) => tenantId))) {
      const cap = this.#tables.tenants.get(id)?.concurrencyLimit ?? this.#tables.defaultTenantConcurrency;
      const count = live.filter(({ tenantId }) => tenantId === id).length;
      if (count > cap)
        this.#violations.add("tenant_cap", `tenant ${short({ id })}: ${count} leases over ${cap}`);
    }
  }

  #row(row: DeliveryRow, owner: string, nowUs: number): void {
    const { tenants, destinations, batches } = this.#tables;
    const tenant = tenants.get(row.tenantId);
    const destination = destinations.get(row.destinationId);
    const held = (why: string) => this.#violations.add("held", `${short(row)} was claimed although ${why}`);
    if (row.dueUs > nowUs)
      this.#violations.add("due_time", `${short(row)} is due in ${row.dueUs - nowUs} us`);
    if (this.#tables.draining) held("the region drains");
    if (this.#tables.claimOwner !== owner || tenant?.claimOwner !== owner) held("another owner has it");
    if ((tenant?.pausedAtUs ?? null) !== null && (tenant?.pauseUntilUs ?? 0) > nowUs)
      held("its tenant is paused");
    if ((destination?.pausedAtUs ?? null) !== null && (destination?.pauseUntilUs ?? 0) > nowUs) {
      held("its destination is paused");
    }
    if ((destination?.disabledAtUs ?? null) !== null) held("its destination is disabled");
    if ((tenant?.deletedAtUs ?? null) !== null || (destination?.deletedAtUs ?? null) !== null)
      held("it is deleted");
    if (row.replayBatchId !== null && !RUNNING.has(batches.get(row.replayBatchId) ?? ""))
      held("its batch does not run");
  }

  #destination(id: string, count: number, nowUs: number): void {
    const cap =
      this.#tables.destinations.get(id)?.concurrencyLimit ?? this.#tables.defaultDestinationConcurrency;
    const state = this.#tables.states.get(id);
    const over = (most: number, why: string) => {
      if (count > most)
        this.#violations.add("destination_cap", `${short({ id })}: ${count} leases over ${why} of ${most}`);
    };
    over(cap, "its cap");
    if (state === undefined) return;
    if (!state.probing && state.breaker !== "open" && state.adaptiveLimit !== null)
      over(state.adaptiveLimit, "its adaptive limit");
    this.#gate(id, state, count, nowUs);
  }

  #gate(id: string, state: StateRow, count: number, nowUs: number): void {
    const shut = (why: string) => this.#violations.add("gate", `${short({ id })} was claimed from ${why}`);
    if ((state.holdUntilUs ?? 0) > nowUs)
      shut(`${(state.holdUntilUs ?? 0) - nowUs} us before its gate opens`);
    if (state.breaker === "open" && (state.breakerUntilUs ?? 0) > nowUs) shut("behind an open breaker");
    if ((state.probing || state.breaker === "open") && count > 1) shut(`${count} at once while it is probed`);
  }

  /** In any window t since the limit was set: at most burst + rate x t. */
  #rate(id: string, taken: number, nowUs: number): void {
    const destination = this.#tables.destinations.get(id) as DestinationTableRow;
    const { ratePerSecond, rateBurst } = destination;
    if (ratePerSecond === null) {
      this.#grants.delete(id);
      return;
    }
    let grants = this.#grants.get(id);
    if (grants === undefined || grants.perSecond !== ratePerSecond || grants.burst !== rateBurst) {
      grants = { perSecond: ratePerSecond, burst: rateBurst, atUs: [] };
      this.#grants.set(id, grants);
    }
    for (let n = 0; n < taken; n++) grants.atUs.push(nowUs);
    const total = grants.atUs.length;
    grants.atUs.forEach((fromUs, index) => {
      const count = total - index;
      const most = rateBurst + (ratePerSecond * (nowUs + AHEAD_US - fromUs)) / SECOND_US;
      if (count > most + ROUNDING) {
        this.#violations.add(
          "rate",
          `${short({ id })}: ${count} in ${nowUs - fromUs} us at ${ratePerSecond}/s, burst ${rateBurst}`,
        );
      }
    });
  }
}
