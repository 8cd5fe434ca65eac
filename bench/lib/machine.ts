/** What the numbers were measured on, for the row itself: a number without its machine says little. */
import { cpus, totalmem } from "node:os";
import type { BenchDatabase } from "./database.ts";
import { round } from "./stats.ts";

const GIB = 1024 ** 3;

export function machineFacts(database?: Pick<BenchDatabase, "version">): Record<string, unknown> {
  const cores = cpus();
  return {
    machine: `${cores.length} x ${cores[0]?.model.trim() ?? "unknown"}, ${round(totalmem() / GIB)} GiB`,
    node: process.version,
    ...(database === undefined ? {} : { postgres: database.version }),
  };
}
