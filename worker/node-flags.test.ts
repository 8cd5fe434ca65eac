/** Node takes the options that a worker is started with, on the command line and from NODE_OPTIONS, and V8 goes by them. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { WORKER_NODE_FLAGS } from "./node-flags.ts";

const MIB = 1024 * 1024;
const LEAST_OLD_SPACE_MIB = 256;
const PRINT = "JSON.stringify(require('node:v8').getHeapStatistics())";

function heapLimitMib(args: readonly string[], nodeOptions: string): number {
  const text = execFileSync(process.execPath, [...args, "-p", PRINT], {
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: nodeOptions },
  });
  return (JSON.parse(text) as { heap_size_limit: number }).heap_size_limit / MIB;
}

describe("the options of a worker process", () => {
  it("bound the heap, either way they are given", () => {
    const limits = [heapLimitMib(WORKER_NODE_FLAGS, ""), heapLimitMib([], WORKER_NODE_FLAGS.join(" "))];
    for (const limit of limits) {
      expect(limit).toBeGreaterThanOrEqual(LEAST_OLD_SPACE_MIB);
      // The young generation comes on top: three semi-spaces.
      expect(limit).toBeLessThan(LEAST_OLD_SPACE_MIB * 1.5);
    }
  });
});
