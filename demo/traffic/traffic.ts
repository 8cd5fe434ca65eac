/**
 * The demo's traffic of all regions: a loop for the merchants and one for the support desk of each, lines every ten
 * seconds, and the receiver told of the secrets.
 * What it is given it does not close; it ends when it is told to and never by itself.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { PrismaClient } from "#db/prisma.ts";
import type { ReceiverClient } from "#demo/receiver/client.ts";
import { type SupportCounts, SupportTraffic } from "#demo/support/traffic.ts";
import type { Region } from "#domain/region.ts";
import type { Hinter } from "#outbox/index.ts";
import { type OpenSecret, publishSecrets } from "./publish-secrets.ts";
import { RegionTraffic, type TrafficCounts } from "./region-traffic.ts";

export interface TrafficSettings {
  readonly regions: readonly {
    readonly region: Region;
    readonly prisma: PrismaClient;
    readonly hinter: Hinter;
  }[];
  readonly deliveriesPerSecond: number;
  readonly maxWaiting: number;
  readonly receiver: Pick<ReceiverClient, "health" | "setSecret" | "url">;
  readonly openSecret: OpenSecret;
  readonly say: (line: string) => void;
  /** Time between two lines. Default 10 s. */
  readonly reportEveryMs?: number;
}

export interface RunningTraffic {
  /** Makes no more business and waits for the transactions that are open. */
  stop(): Promise<void>;
}

const REPORT_EVERY_MS = 10_000;
const PUBLISH_EVERY_MS = 10_000;
/** A rotated secret is told at the latest then. */
const REPUBLISH_EVERY_MS = 60_000;

/** Starts the loops and returns at once. */
export function startTraffic(settings: TrafficSettings): RunningTraffic {
  const controller = new AbortController();
  const { signal } = controller;
  const regions = settings.regions.map(({ region, prisma, hinter }) => {
    const { deliveriesPerSecond, maxWaiting } = settings;
    return {
      region,
      traffic: new RegionTraffic({ region, prisma, hinter, deliveriesPerSecond, maxWaiting }),
      support: new SupportTraffic({ region, prisma, maxWaiting }),
    };
  });
  const running = [
    ...regions.flatMap(({ traffic, support }) => [traffic.run(signal), support.run(signal)]),
    ...settings.regions.map(({ prisma }) => keepPublishing(prisma, settings, signal)),
    every(settings.reportEveryMs ?? REPORT_EVERY_MS, signal, () => {
      settings.say(regions.map(({ region, traffic }) => lineOf(region, traffic.takeCounts())).join("; "));
      settings.say(regions.map(({ region, support }) => deskLineOf(region, support.takeCounts())).join("; "));
    }),
  ];
  return {
    stop: async () => {
      controller.abort();
      await Promise.all(running);
    },
  };
}

/** Tells again when the receiver is another process than the last time, and once a minute. */
async function keepPublishing(
  prisma: PrismaClient,
  settings: TrafficSettings,
  signal: AbortSignal,
): Promise<void> {
  let toldPid: number | null = null;
  let toldAtMs = 0;
  const look = async () => {
    const { pid } = await settings.receiver.health();
    if (pid === toldPid && performance.now() - toldAtMs < REPUBLISH_EVERY_MS) return;
    const told = await publishSecrets(prisma, settings.receiver, settings.openSecret);
    toldPid = told > 0 ? pid : null;
    toldAtMs = performance.now();
  };
  // The receiver or the database may be away; the next look comes soon.
  await look().catch(() => {});
  await every(PUBLISH_EVERY_MS, signal, () => look().catch(() => {}));
}

async function every(ms: number, signal: AbortSignal, work: () => unknown): Promise<void> {
  while (!signal.aborted) {
    await delay(ms, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await work();
  }
}

function lineOf(region: Region, counts: TrafficCounts): string {
  const made = `${counts.holds} holds, ${counts.captures} captures, ${counts.invoices} invoices`;
  const heldBack = counts.heldBack === 0 ? "" : `, ${counts.heldBack} held back (enough waiting)`;
  const failure = counts.failure === null ? "" : `, now failing: ${counts.failure}`;
  return `traffic ${region} ${made}${heldBack}${failure}`;
}

function deskLineOf(region: Region, { promises, changes, batches }: SupportCounts): string {
  return `support desk ${region} ${promises} promises, ${changes} changes, ${batches} batches`;
}
