/**
 * The regions that exist. A region is a database of its own: nothing moves work from one to another.
 * This file must never read which region a process runs in; that is configuration and is passed in.
 */
import { SluiceError } from "./errors.ts";

/** Every region, in the order in which screens and reports show them. */
export const REGIONS = ["us", "eu"] as const;

export type Region = (typeof REGIONS)[number];

/** True when `value` is a region exactly as rows store it (lower case). */
export function isRegion(value: unknown): value is Region {
  return typeof value === "string" && (REGIONS as readonly string[]).includes(value);
}

/**
 * Reads a region at the edge (environment, URL, flag). `us` and `US` are the same region; `Us` and ` us` are
 * typing mistakes and are refused rather than guessed.
 * @throws SluiceError `bad_region`
 */
export function parseRegion(text: string): Region {
  if (isRegion(text)) {
    return text;
  }
  const lower = text.toLowerCase();
  if (isRegion(lower) && text === lower.toUpperCase()) {
    return lower;
  }
  const shown = text.slice(0, 40);
  throw new SluiceError("bad_region", `"${shown}" is not a region; use one of ${REGIONS.join(", ")}`);
}
