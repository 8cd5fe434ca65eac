/**
 * What the machine did while something was measured: cores by process, the worker's event loop, the disk, the database's functions. So that
 * a number that misses its goal is printed beside what bounds it. It only reads; what it costs itself is a few small writes a second.
 */
import { type FunctionTime, functionTimes } from "../profile/sql.ts";
import type { Bench } from "./context.ts";
import { processCpuMs, readCpu } from "./cpu.ts";
import { type DiskReport, type DiskStall, watchDisk } from "./disk.ts";
import { receiverCpuMs } from "./receiver.ts";
import { median, round } from "./stats.ts";
import type { LoopReport, SpawnedBenchWorker } from "./worker.ts";

/** Functions that are printed, the dearest first. */
const SHOWN_FUNCTIONS = 5;

export interface LoadReport {
  /** In parts of one core; null where the system does not tell. */
  readonly cores: Readonly<Record<"worker" | "postgres" | "receiver" | "writers", number | null>>;
  readonly loop: LoopReport;
  readonly disk: DiskReport;
  /** Calls a second and mean milliseconds of the wall clock; sessions report with a delay of up to a second. */
  readonly functions: Readonly<Record<string, { readonly perSecond: number; readonly meanMs: number }>>;
}

export interface LoadWatch {
  stop(): Promise<{ readonly load: LoadReport; readonly stalls: readonly DiskStall[] }>;
}

interface Reading {
  readonly atMs: number;
  readonly workerMs: number | null;
  readonly postgresMs: number | null;
  readonly receiverMs: number;
  readonly writersMs: number;
  readonly functions: readonly FunctionTime[];
}

/** Functions are counted only in sessions that began after `trackFunctions`. */
export async function watchLoad(bench: Bench, worker: SpawnedBenchWorker): Promise<LoadWatch> {
  const disk = await watchDisk();
  const before = await read(bench, worker);
  await worker.watchLoop();
  return {
    async stop() {
      const { report, stalls } = await disk.stop();
      const loop = await worker.readLoop();
      const after = await read(bench, worker);
      const passedMs = after.atMs - before.atMs;
      const share = (from: number | null, to: number | null) =>
        from === null || to === null ? null : round((to - from) / passedMs, 2);
      const cores = {
        worker: share(before.workerMs, after.workerMs),
        postgres: share(before.postgresMs, after.postgresMs),
        receiver: share(before.receiverMs, after.receiverMs),
        writers: share(before.writersMs, after.writersMs),
      };
      const functions = Object.fromEntries(between(before.functions, after.functions, passedMs));
      return { load: { cores, loop, disk: report, functions }, stalls };
    },
  };
}

async function read(bench: Bench, worker: SpawnedBenchWorker): Promise<Reading> {
  const functions = await functionTimes(bench.database.pool);
  const receiverMs = await receiverCpuMs(bench.receiver);
  const { nodeMs, postgresMs } = readCpu(bench.database.serverPid);
  return {
    atMs: performance.now(),
    workerMs: processCpuMs(worker.pid),
    postgresMs,
    receiverMs,
    writersMs: nodeMs,
    functions,
  };
}

function between(
  before: readonly FunctionTime[],
  after: readonly FunctionTime[],
  passedMs: number,
): [string, { perSecond: number; meanMs: number }][] {
  const earlier = new Map(before.map((each) => [each.name, each]));
  return after
    .map(({ name, calls, totalMs }) => ({
      name,
      calls: calls - (earlier.get(name)?.calls ?? 0),
      totalMs: totalMs - (earlier.get(name)?.totalMs ?? 0),
    }))
    .filter(({ calls }) => calls > 0)
    .sort((a, b) => b.totalMs - a.totalMs)
    .slice(0, SHOWN_FUNCTIONS)
    .map(({ name, calls, totalMs }) => [
      name,
      { perSecond: round((calls / passedMs) * 1_000, 1), meanMs: round(totalMs / calls, 2) },
    ]);
}

/** The loads of several rounds as one: medians, but of the disk and the loop the longest. */
export function joinedLoad(loads: readonly LoadReport[]): Record<string, unknown> {
  const coresOf = (who: keyof LoadReport["cores"]) =>
    round(median(loads.map(({ cores }) => cores[who] ?? Number.NaN)), 2);
  const longest = (value: (load: LoadReport) => number) => Math.max(...loads.map(value));
  const names = [...new Set(loads.flatMap(({ functions }) => Object.keys(functions)))];
  const functionOf = (name: string) => {
    const seen = loads.flatMap(({ functions }) => functions[name] ?? []);
    return {
      perSecond: round(median(seen.map(({ perSecond }) => perSecond)), 1),
      meanMs: round(median(seen.map(({ meanMs }) => meanMs)), 2),
    };
  };
  return {
    cores: {
      worker: coresOf("worker"),
      postgres: coresOf("postgres"),
      receiver: coresOf("receiver"),
      writers: coresOf("writers"),
    },
    loop: {
      busyShare: round(median(loads.map(({ loop }) => loop.busyShare)), 2),
      p99Ms: round(median(loads.map(({ loop }) => loop.p99Ms)), 1),
      maxMs: longest(({ loop }) => loop.maxMs),
    },
    disk: {
      p50Ms: round(median(loads.map(({ disk }) => disk.p50Ms)), 1),
      p99Ms: round(median(loads.map(({ disk }) => disk.p99Ms)), 1),
      maxMs: longest(({ disk }) => disk.maxMs),
      stalls: loads.reduce((sum, { disk }) => sum + disk.stalls, 0),
      stalledMs: loads.reduce((sum, { disk }) => sum + disk.stalledMs, 0),
    },
    functions: Object.fromEntries(names.map((name) => [name, functionOf(name)])),
  };
}
