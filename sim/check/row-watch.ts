/**
 * Watches the live rows from outside: what each statement changed, and whether it was allowed to. It knows the rules
 * of the state machine, not how a statement follows them, and it keeps its own copy of every row to compare with.
 */
import type { FinishRow } from "#db/queue/finish.ts";
import { MAX_LOST_LEASES } from "#domain/delivery.ts";
import type { DeliveryRow, Tables } from "#sim/store/tables.ts";
import type { Violations } from "./violations.ts";

export type Change =
  | { readonly kind: "claim" }
  | { readonly kind: "finish"; readonly rows: readonly FinishRow[] }
  | { readonly kind: "release"; readonly ids: readonly string[]; readonly token: string }
  | { readonly kind: "expire" | "cancel" | "enqueue" | "other" };

const FIXED = [
  "id",
  "region",
  "tenantId",
  "destinationId",
  "payloadId",
  "payloadBytes",
  "eventType",
  "idempotencyKey",
  "serviceClass",
  "firstDueUs",
] as const;

export class RowWatch {
  readonly #tables: Tables;
  readonly #violations: Violations;
  readonly #nowUs: () => number;
  readonly #seen = new Map<string, DeliveryRow>();

  constructor(tables: Tables, violations: Violations, nowUs: () => number) {
    this.#tables = tables;
    this.#violations = violations;
    this.#nowUs = nowUs;
  }

  /** Compares the tables with what was seen last, and remembers them as they are now. Returns the rows that were leased. */
  look(change: Change): DeliveryRow[] {
    const { deliveries } = this.#tables;
    const leased: DeliveryRow[] = [];
    for (const row of deliveries.values()) {
      const was = this.#seen.get(row.id);
      if (was?.leaseToken === row.leaseToken && was.attempts === row.attempts && was.state === row.state)
        continue;
      if (was === undefined) this.#appeared(row, change);
      else if (this.#changed(was, row, change)) leased.push(row);
      this.#seen.set(row.id, { ...row });
    }
    if (this.#seen.size === deliveries.size) return leased;
    for (const was of this.#seen.values()) {
      if (deliveries.has(was.id)) continue;
      this.#vanished(was, change);
      this.#seen.delete(was.id);
    }
    return leased;
  }

  #appeared(row: DeliveryRow, change: Change): void {
    if (change.kind === "enqueue") return;
    this.#violations.add("nothing_lost", `${short(row)} appeared in a ${change.kind}`);
  }

  /** True when the statement leased the row. */
  #changed(was: DeliveryRow, row: DeliveryRow, change: Change): boolean {
    const add = (invariant: Parameters<Violations["add"]>[0], detail: string) =>
      this.#violations.add(invariant, `${short(row)}: ${detail} (${change.kind})`);
    for (const field of FIXED) {
      if (row[field] !== was[field]) add("identity", `${field} changed`);
    }
    const rise = row.attempts - was.attempts;
    if (was.leaseToken === row.leaseToken) {
      const by = change.kind === "finish" ? "fence" : "attempts";
      if (rise !== 0) add(by, `attempts went from ${was.attempts} to ${row.attempts} without a lease`);
      if (was.state !== row.state) add("one_live_lease", `${was.state} became ${row.state}`);
      return false;
    }
    if (row.leaseToken !== null) {
      if (was.leaseToken !== null) add("one_live_lease", "leased again before its lease was given back");
      else if (change.kind !== "claim") add("one_live_lease", "leased without a claim");
      if (rise !== 0) add("attempts", "a claim changed attempts");
      return true;
    }
    this.#givenBack(was, rise, change, add);
    return false;
  }

  #givenBack(
    was: DeliveryRow,
    rise: number,
    change: Change,
    add: (invariant: "fence" | "attempts" | "one_live_lease", detail: string) => void,
  ): void {
    if (change.kind === "release") {
      if (change.token !== was.leaseToken || !change.ids.includes(was.id))
        add("fence", "released by another token");
      if (rise !== 0) add("attempts", "a release changed attempts");
    } else if (change.kind === "finish") {
      const outcome = outcomeOf(change, was);
      if (outcome === undefined) add("fence", "a result under another token was recorded");
      else if (rise !== (outcome.sent ? 1 : 0)) add("attempts", `a result raised attempts by ${rise}`);
    } else if (change.kind === "expire") {
      if ((was.leaseUntilUs as number) >= this.#nowUs()) add("one_live_lease", "a live lease was taken away");
      if (rise !== 1) add("attempts", `a lost lease raised attempts by ${rise}`);
    } else {
      add("one_live_lease", "a lease ended by nothing");
    }
  }

  #vanished(was: DeliveryRow, change: Change): void {
    const add = (invariant: "fence" | "nothing_lost" | "attempts", detail: string) =>
      this.#violations.add(invariant, `${short(was)}: ${detail} (${change.kind})`);
    const ended = this.#tables.ended.get(was.id);
    if (ended === undefined) {
      add("nothing_lost", "gone, and neither archived nor dead");
      return;
    }
    for (const field of FIXED) {
      if (ended[field] !== was[field])
        this.#violations.add("identity", `${short(was)}: ${field} changed at its end`);
    }
    const rise = ended.attempts - was.attempts;
    if (change.kind === "finish") {
      const outcome = outcomeOf(change, was);
      if (outcome === undefined) add("fence", "ended by a result under another token");
      else if (rise !== (outcome.sent ? 1 : 0)) add("attempts", `its end raised attempts by ${rise}`);
    } else if (change.kind === "expire") {
      if (was.lostLeases + 1 < MAX_LOST_LEASES)
        add("nothing_lost", `dead after ${was.lostLeases + 1} lost leases`);
      if (rise !== 1) add("attempts", `a lost lease raised attempts by ${rise}`);
    } else if (change.kind !== "cancel" || was.leaseToken !== null) {
      add("nothing_lost", "ended by nothing");
    }
  }
}

function outcomeOf(change: Change & { kind: "finish" }, was: DeliveryRow): FinishRow | undefined {
  return change.rows.find(({ id, lease_token }) => id === was.id && lease_token === was.leaseToken);
}

export function short({ id }: { readonly id: string }): string {
  return id.slice(-6);
}
