/**
 * How long the machine's disk takes to make a small write durable, while something else is measured: a disk that stands still for a
 * moment makes every commit wait, whoever's queue it is. A few writes a second; it must never be what loads the disk.
 */
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { percentile, round } from "./stats.ts";
import { sleep } from "./wait.ts";

/** As much as a page of a write-ahead log. */
const WRITE_BYTES = 8_192;
const EVERY_MS = 50;
/** A write that takes this long is a stall. */
const STALL_MS = 20;

/** Milliseconds since 1970. */
export interface DiskStall {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface DiskReport {
  readonly writes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly stalls: number;
  readonly stalledMs: number;
}

export interface DiskWatch {
  stop(): Promise<{ readonly report: DiskReport; readonly stalls: readonly DiskStall[] }>;
}

/** Writes beside an embedded server's data, which stands in the same folder for temporary files. */
export async function watchDisk(): Promise<DiskWatch> {
  const dir = await mkdtemp(path.join(tmpdir(), "sluice-bench-disk-"));
  const file = await open(path.join(dir, "probe"), "w");
  const bytes = Buffer.alloc(WRITE_BYTES, 1);
  await file.write(bytes, 0, WRITE_BYTES, 0);
  await file.sync();
  let isOver = false;
  const tookMs: number[] = [];
  const stalls: DiskStall[] = [];
  const watching = (async () => {
    while (!isOver) {
      const begunAt = performance.now();
      await file.write(bytes, 0, WRITE_BYTES, 0);
      await file.datasync();
      const ms = performance.now() - begunAt;
      tookMs.push(ms);
      const fromMs = performance.timeOrigin + begunAt;
      if (ms >= STALL_MS) stalls.push({ fromMs, toMs: fromMs + ms });
      await sleep(EVERY_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      try {
        await watching;
      } finally {
        await file.close();
        await rm(dir, { recursive: true, force: true });
      }
      const at = (share: number) => round(percentile(tookMs, share), 1);
      const stalledMs = round(stalls.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0));
      const report = {
        writes: tookMs.length,
        p50Ms: at(0.5),
        p99Ms: at(0.99),
        maxMs: at(1),
        stalls: stalls.length,
        stalledMs,
      };
      return { report, stalls };
    },
  };
}
