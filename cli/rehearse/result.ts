/** The result of a rehearsal as a file below the data folder: what ran, where, by whom, and what was found. Never a secret. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Check } from "./replay-checks.ts";
import type { Step } from "./steps.ts";

export interface RehearsalResult {
  readonly rehearsal: "replay";
  /** UTC. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly tookMs: number;
  readonly passed: boolean;
  /** Why it did not come to its end; null when it did. */
  readonly failure: string | null;
  readonly console: string;
  readonly environment: string;
  /** Of the console that was asked. */
  readonly build: { readonly version: string; readonly node: string; readonly kind: string };
  readonly region: string;
  readonly people: { readonly author: string; readonly reviewer: string };
  readonly batchId: string | null;
  readonly sha256: string | null;
  readonly counts: Readonly<Record<string, number>> | null;
  readonly checks: readonly Check[];
  readonly steps: readonly Step[];
}

/** @returns where it stands */
export function writeResult(dataDir: string, result: RehearsalResult): string {
  const folder = path.join(dataDir, "rehearsals");
  mkdirSync(folder, { recursive: true });
  const moment = result.startedAt.replaceAll(/[:.]/g, "-");
  const file = path.join(folder, `${result.rehearsal}-${result.region}-${moment}.json`);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file;
}
