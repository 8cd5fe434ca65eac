/**
 * Bytes of write-ahead log for one delivery over its whole life, enqueued in bulk and sent once, beside graphile-worker
 * with one job per delivery and the body in the job. A checkpoint stands before each fill, so that both pay for the first
 * touch of a page; the parts (enqueue, delivery) are printed too.
 */
import type { Contender } from "../contenders/contender.ts";
import { createTunedGraphile } from "../contenders/graphile.ts";
import { createSluice } from "../contenders/sluice.ts";
import { sendContext, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { checkExactlyOnce, type ReceiverProcess, readSeen } from "../lib/receiver.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { makeBenchTenant, walBytes } from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";

const GOAL = 0.7;

interface WalRun {
  readonly enqueueBytes: number;
  readonly deliverBytes: number;
}

export const wal: Scenario = {
  name: "wal",
  title: "write-ahead log for a delivery, beside tuned graphile-worker",
  defaults: { slots: 512 },
  run: (options) =>
    withBench(0, async (bench) => {
      const { database, receiver } = bench;
      const context = await sendContext(bench, options);
      const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
      const contenders: Contender[] = [
        createSluice(context, { database, tenant, receiver, slots: options.slots, warmUp: 0, clear: true }),
        await createTunedGraphile(context, await database.makeSibling("graphile")),
      ];
      for (const contender of contenders) bench.defer(() => contender.close());
      const runs = new Map<string, WalRun[]>(contenders.map(({ name }) => [name, []]));
      const read = () => walBytes(database.pool);
      for (let number = 1; number <= options.rounds; number++) {
        for (const contender of contenders) {
          const run = await oneRound(contender, options.deliveries, receiver, read);
          runs.get(contender.name)?.push(run);
          progress(
            `round ${number} of ${options.rounds}: ${contender.name} ${round(run.enqueueBytes + run.deliverBytes)} bytes`,
          );
        }
      }
      const [ours = [], theirs = []] = [...runs.values()];
      const total = ({ enqueueBytes, deliverBytes }: WalRun) => enqueueBytes + deliverBytes;
      const ratios = ours.map((run, index) => {
        const other = theirs[index];
        return other === undefined ? Number.NaN : total(run) / total(other);
      });
      return {
        goals: [atMost("WAL bytes for a delivery / tuned graphile-worker's", round(median(ratios), 3), GOAL)],
        facts: {
          deliveries: options.deliveries,
          bodyBytes: options.bodyBytes,
          rounds: options.rounds,
          ...machineFacts(database),
          bytesPerDelivery: Object.fromEntries(
            [...runs].map(([name, each]) => [
              name,
              {
                enqueue: round(median(each.map(({ enqueueBytes }) => enqueueBytes))),
                deliver: round(median(each.map(({ deliverBytes }) => deliverBytes))),
                total: round(median(each.map(total))),
              },
            ]),
          ),
        },
      };
    }),
};

async function oneRound(
  contender: Contender,
  deliveries: number,
  receiver: ReceiverProcess,
  read: () => Promise<number>,
): Promise<WalRun> {
  const before = await read();
  await contender.prepare(deliveries);
  try {
    const filled = await read();
    const seen = await readSeen(receiver);
    await contender.drain(deliveries);
    checkExactlyOnce(deliveries, seen, await readSeen(receiver));
    await contender.rest();
    const after = await read();
    return {
      enqueueBytes: (filled - before) / deliveries,
      deliverBytes: (after - filled) / deliveries,
    };
  } finally {
    await contender.rest();
  }
}
