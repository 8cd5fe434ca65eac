/**
 * The subject of an approval: SHA-256 over the canonical JSON of what was frozen. Pure. Two equal sets give one hash
 * whatever the order in which they were read; anything else that differs gives another.
 */
import { createHash } from "node:crypto";
import type { ReplayPlan } from "./replay-plan.ts";

export interface FrozenItem {
  readonly id: string;
  readonly version: number;
  readonly cycle: number;
  readonly seq: number;
}

export interface FrozenLane {
  readonly destinationId: string;
  readonly ratePerSecond: number;
  /** What the destination's configuration was. */
  readonly print: string;
}

export interface Frozen {
  readonly batchId: string;
  readonly region: string;
  readonly plan: ReplayPlan;
  readonly items: readonly FrozenItem[];
  readonly lanes: readonly FrozenLane[];
}

/** 32 bytes. */
export function freezeHash(frozen: Frozen): Uint8Array {
  const items = [...frozen.items].sort((a, b) => (a.id < b.id ? -1 : 1));
  const lanes = [...frozen.lanes].sort((a, b) => (a.destinationId < b.destinationId ? -1 : 1));
  return createHash("sha256")
    .update(canonicalJson({ ...frozen, items, lanes }))
    .digest();
}

/**
 * JSON with the members of every object in the order of their names and nothing between them.
 * @throws TypeError for what JSON cannot say (NaN, undefined in an array, a function)
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("a number that JSON cannot say");
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object") throw new TypeError(`${typeof value} has no JSON`);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
