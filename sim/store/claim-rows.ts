/** Which rows a claim takes: the oldest due ones of each entry, within the byte budget, suspects one at a time. */
import type { Us } from "#sim/scheduler.ts";
import type { Clipped } from "./claim.ts";
import type { DeliveryRow, Tables } from "./tables.ts";

export interface Chosen {
  readonly ord: number;
  readonly row: DeliveryRow;
  /** Due before the resume of a ramp, or there is no ramp. */
  readonly old: boolean;
}

const RUNNING = new Set(["canary", "running"]);

/** Behind a resume first the rows that became due after it, then the old ones. `free`: rows with a lost lease may be looked at. */
export function findRows(tables: Tables, nowUs: Us, clipped: readonly Clipped[], free: boolean): Chosen[] {
  const found: Chosen[] = [];
  const waiting = new Map<string, DeliveryRow[]>();
  for (const row of tables.deliveries.values()) {
    if (row.state === "leased" || row.dueUs > nowUs || (row.lostLeases > 0 && !free)) continue;
    if (row.replayBatchId !== null && !RUNNING.has(tables.batches.get(row.replayBatchId) ?? "")) continue;
    const key = keyOf(row);
    const rows = waiting.get(key);
    if (rows === undefined) waiting.set(key, [row]);
    else rows.push(row);
  }
  for (const item of clipped) {
    if (item.k === 0) continue;
    const rows = (waiting.get(keyOf(item.entry)) ?? []).toSorted(byDue);
    const { ord, k, oldK, ramp } = item;
    const lineUs = ramp?.lineUs ?? null;
    const fresh = lineUs === null ? rows : rows.filter((row) => row.dueUs >= lineUs);
    const old = lineUs === null ? [] : rows.filter((row) => row.dueUs < lineUs).slice(0, oldK);
    const picked = [
      ...fresh.slice(0, k).map((row) => ({ ord, row, old: lineUs === null })),
      ...old.map((row) => ({ ord, row, old: true })),
    ];
    found.push(...picked.slice(0, k));
  }
  return found;
}

/** `hash`: whose turn it is among tenants with a lost lease, anew for each claim. */
export function choose(
  found: readonly Chosen[],
  maxBytes: number,
  hash: (tenantId: string) => number,
): Chosen[] {
  // In the order of entries and due times; `found` may have newer rows of an entry before its older ones.
  const ordered = found.toSorted((a, b) => a.ord - b.ord || byDue(a.row, b.row));
  const suspect = firstSuspect(ordered, hash);
  let bytes = 0;
  return ordered.filter(({ row }, index) => {
    bytes += row.payloadBytes;
    return (bytes <= maxBytes || index === 0) && (row.lostLeases === 0 || row === suspect);
  });
}

function firstSuspect(ordered: readonly Chosen[], hash: (tenantId: string) => number): DeliveryRow | null {
  let first: DeliveryRow | null = null;
  let lowest = Number.POSITIVE_INFINITY;
  for (const { row } of ordered) {
    if (row.lostLeases === 0) continue;
    const value = hash(row.tenantId);
    if (value < lowest) {
      lowest = value;
      first = row;
    }
  }
  return first;
}

function keyOf(key: { lane: string; serviceClass: string; tenantId: string; destinationId: string }): string {
  return `${key.lane}${key.serviceClass}${key.tenantId}${key.destinationId}`;
}

export function byDue(a: DeliveryRow, b: DeliveryRow): number {
  return a.dueUs - b.dueUs || (a.id < b.id ? -1 : 1);
}
