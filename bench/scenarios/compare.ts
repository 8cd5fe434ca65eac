/**
 * Runs contenders side by side, round by round, so that a machine that is slow for a while is slow for all of them. The
 * receiver is the judge: a round in which it did not see each delivery exactly once, validly signed, has no number.
 */
import type { Contender } from "../contenders/contender.ts";
import { readCpu } from "../lib/cpu.ts";
import { progress } from "../lib/progress.ts";
import { checkExactlyOnce, type ReceiverProcess, readSeen, receiverCpuMs } from "../lib/receiver.ts";
import { median, round } from "../lib/stats.ts";

export interface Entry {
  readonly contender: Contender;
  readonly deliveries: number;
}

export interface Run {
  readonly perSecond: number;
  /** Milliseconds of CPU for a delivery: this process, Postgres, the receiver. */
  readonly nodeMs: number;
  readonly postgresMs: number | null;
  readonly receiverMs: number;
}

/** Runs by name of the contender, one for each round. */
export type Rounds = ReadonlyMap<string, readonly Run[]>;

export async function compare(
  entries: readonly Entry[],
  rounds: number,
  receiver: ReceiverProcess,
  postgresPid: number | null,
): Promise<Rounds> {
  const runs = new Map<string, Run[]>(entries.map(({ contender }) => [contender.name, []]));
  for (let number = 1; number <= rounds; number++) {
    for (const entry of entries) {
      const run = await oneRound(entry, receiver, postgresPid);
      runs.get(entry.contender.name)?.push(run);
      progress(`round ${number} of ${rounds}: ${entry.contender.name} ${round(run.perSecond)}/s`);
    }
  }
  return runs;
}

async function oneRound(
  { contender, deliveries }: Entry,
  receiver: ReceiverProcess,
  postgresPid: number | null,
): Promise<Run> {
  await contender.prepare(deliveries);
  try {
    const seenBefore = await readSeen(receiver);
    const receiverBefore = await receiverCpuMs(receiver);
    const before = readCpu(postgresPid);
    const tookMs = await contender.drain(deliveries);
    const after = readCpu(postgresPid);
    const receiverAfter = await receiverCpuMs(receiver);
    checkExactlyOnce(deliveries, seenBefore, await readSeen(receiver));
    return {
      perSecond: (deliveries / tookMs) * 1_000,
      nodeMs: (after.nodeMs - before.nodeMs) / deliveries,
      postgresMs:
        after.postgresMs === null || before.postgresMs === null
          ? null
          : (after.postgresMs - before.postgresMs) / deliveries,
      receiverMs: (receiverAfter - receiverBefore) / deliveries,
    };
  } finally {
    await contender.rest();
  }
}

/** Median over the rounds of the first's rate divided by the second's in the same round. */
export function ratio(rounds: Rounds, of: string, to: string): number {
  const others = rounds.get(to) ?? [];
  const ratios = (rounds.get(of) ?? []).map(
    (run, index) => run.perSecond / (others[index]?.perSecond ?? Number.NaN),
  );
  return round(median(ratios), 3);
}

/** What each contender did, for the JSON row. */
export function described(entries: readonly Entry[], rounds: Rounds): Record<string, unknown> {
  return Object.fromEntries(
    entries.map(({ contender, deliveries }) => {
      const runs = rounds.get(contender.name) ?? [];
      const postgres = runs.map(({ postgresMs }) => postgresMs).filter((ms) => ms !== null);
      return [
        contender.name,
        {
          deliveries,
          perSecond: round(median(runs.map(({ perSecond }) => perSecond))),
          nodeCpuMs: round(median(runs.map(({ nodeMs }) => nodeMs)), 3),
          postgresCpuMs: postgres.length === 0 ? null : round(median(postgres), 3),
          receiverCpuMs: round(median(runs.map(({ receiverMs }) => receiverMs)), 3),
          settings: contender.settings(),
          each: runs.map(({ perSecond }) => round(perSecond)),
        },
      ];
    }),
  );
}
