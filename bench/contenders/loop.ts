/**
 * What everything is held against: requests and nothing else. No database, no decision, no record; at its own best
 * concurrency.
 */
import { randomBytes } from "node:crypto";
import { uuidV7 } from "#domain/ids.ts";
import type { Tunable } from "./contender.ts";
import { type SendContext, sendOne } from "./send.ts";

export const LOOP_CONCURRENCIES = [16, 32, 64, 128, 256];

export function createLoop(context: SendContext): Tunable<number> {
  let concurrency = 64;
  let ids: string[] = [];
  return {
    name: "loop",
    settings: () => ({ concurrency }),
    use(value) {
      concurrency = value;
    },
    async prepare(count) {
      const nowMs = Date.now();
      ids = Array.from({ length: count }, () => uuidV7(nowMs, randomBytes));
    },
    async drain(count) {
      let next = 0;
      const begunAt = performance.now();
      const one = async () => {
        for (;;) {
          const index = next++;
          const id = ids[index];
          if (id === undefined || index >= count) return;
          await sendOne(context, id, (index % context.destinations) + 1, context.body);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, one));
      return performance.now() - begunAt;
    },
    async rest() {
      ids = [];
    },
    async close() {},
  };
}
