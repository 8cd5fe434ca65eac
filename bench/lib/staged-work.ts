/**
 * A measurement with all that explains it: the stages of each way, and what the machine did meanwhile. Shared by the scenarios that hold
 * a wait against a goal; it must never change what is measured.
 */
import { trackFunctions } from "../profile/sql.ts";
import { noteClaims } from "../stages/sql.ts";
import type { Bench } from "./context.ts";
import type { DiskStall } from "./disk.ts";
import type { FreshWork } from "./fresh-work.ts";
import { joinedLoad, type LoadReport, watchLoad } from "./load.ts";
import type { BenchTenant } from "./sql.ts";
import { type StagedLag, type StallReport, stagesReport, stallReport } from "./stages.ts";
import { median, round } from "./stats.ts";
import type { SpawnedBenchWorker } from "./worker.ts";

export interface StagedTurn {
  readonly lags: readonly StagedLag[];
  readonly load: LoadReport;
  readonly stall: StallReport;
}

/**
 * Before the first worker starts: keeps when claims happened, and counts the time of functions.
 * @param tenant whose claims; all when absent, which costs each claim some microseconds a row
 */
export async function explainWork({ database }: Bench, tenant: BenchTenant | null = null): Promise<void> {
  await noteClaims(database.pool, tenant?.tenantId ?? null);
  await trackFunctions(database.pool);
}

export interface Watched<T> {
  readonly result: T;
  readonly load: LoadReport;
  readonly stalls: readonly DiskStall[];
}

/** What the machine did while this went on. */
export async function watchWhile<T>(
  bench: Bench,
  worker: SpawnedBenchWorker,
  work: () => Promise<T>,
): Promise<Watched<T>> {
  const watch = await watchLoad(bench, worker);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // What failed is the reason, not that the worker does not answer any more.
    await watch.stop().catch(() => undefined);
    throw error;
  }
  return { result, ...(await watch.stop()) };
}

export async function measureStaged(
  bench: Bench,
  fresh: FreshWork,
  worker: SpawnedBenchWorker,
  options: { readonly perSecond: number; readonly seconds: number },
): Promise<StagedTurn> {
  const measure = () => fresh.measureStaged(options.perSecond, options.seconds);
  const { result: lags, load, stalls } = await watchWhile(bench, worker, measure);
  return { lags, load, stall: stallReport(lags, stalls) };
}

/** What the turns of one kind say of what bounds them. */
export function explained(turns: readonly StagedTurn[]): Record<string, unknown> {
  return {
    stages: stagesReport(turns.map(({ lags }) => lags)),
    ...joinedLoad(turns.map(({ load }) => load)),
    diskStalls: {
      shareOfSlowest: round(median(turns.map(({ stall }) => stall.shareOfSlowest)), 2),
      p99MsWithout: round(median(turns.map(({ stall }) => stall.p99MsWithout)), 1),
    },
  };
}
