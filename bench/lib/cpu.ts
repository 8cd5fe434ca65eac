/** CPU time and memory of this process, of others, and of a Postgres server with its children. Linux only; null elsewhere. */
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100;
const MS_PER_TICK = 1_000 / TICKS_PER_SECOND;
const BYTES_PER_KIB = 1_024;

export interface CpuReading {
  readonly nodeMs: number;
  readonly postgresMs: number | null;
}

export function readCpu(postgresPid: number | null): CpuReading {
  const usage = process.cpuUsage();
  return {
    nodeMs: (usage.user + usage.system) / 1_000,
    postgresMs: postgresPid === null ? null : treeCpuMs(postgresPid),
  };
}

/** User and system time of one process, in milliseconds. */
export function processCpuMs(pid: number): number | null {
  const stat = readStat(String(pid));
  return stat === null ? null : stat.own * MS_PER_TICK;
}

/** Memory of a process that lies in RAM, in bytes. */
export function residentBytes(pid: number): number | null {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? null : Number(kib) * BYTES_PER_KIB;
  } catch {
    return null;
  }
}

/** User and system time of the process, of its children now and of those it has waited for. */
export function treeCpuMs(pid: number): number | null {
  try {
    let ticks = 0;
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const stat = readStat(name);
      if (stat === null) continue;
      if (Number(name) === pid) ticks += stat.own + stat.waitedFor;
      else if (stat.parent === pid) ticks += stat.own;
    }
    return ticks * MS_PER_TICK;
  } catch {
    return null;
  }
}

function readStat(pid: string): { parent: number; own: number; waitedFor: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces: count from behind it. Fields are those of proc(5), 3 = state.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (number: number) => Number(fields[number - 3]);
    return { parent: field(4), own: field(14) + field(15), waitedFor: field(16) + field(17) };
  } catch {
    return null;
  }
}
