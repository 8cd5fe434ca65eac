/**
 * How far behind the stored due time, its jitter included, a request arrives, and whether one ever comes early. Three
 * kinds of waiting: planned for later by the business, failed with 503 (backoff), throttled with 429 and Retry-After.
 * One delivery for each destination, so that a gate or a cap of a neighbour is not what is measured.
 */
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { type BenchTenant, clearRun, fillDeliveries, hint, makeTenant } from "../lib/sql.ts";
import { explained, explainWork, type StagedTurn, type Watched, watchWhile } from "../lib/staged-work.ts";
import { p99Of, type StagedLag, stagedLag, stallReport } from "../lib/stages.ts";
import { median, percentile, round } from "../lib/stats.ts";
import { untilCount } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";
import { forgetClaims, stagedAttempts } from "../stages/sql.ts";

const GOAL_P99_MS = 50;
/** The first ones are due after this: they must be written and known before. */
const LEAD_MS = 2_000;
const RETRY_AFTER_SECONDS = 2;
const ARRIVAL_TIMEOUT_MS = 60_000;
/** The receiver's fine clock may be this far from the wall clock (demo/receiver/clock.ts). */
const CLOCK_TOLERANCE_MS = 2;

const KINDS = ["planned", "backoff", "retryAfter"] as const;
type Kind = (typeof KINDS)[number];
const PATHS: Readonly<Record<Kind, (n: number) => string>> = {
  planned: (n) => `/ok/planned${n}`,
  backoff: (n) => `/always/503/backoff${n}?times=1`,
  retryAfter: (n) => `/429/seconds/${RETRY_AFTER_SECONDS}/throttled${n}?times=1`,
};
/** Requests for each delivery. */
const REQUESTS: Readonly<Record<Kind, number>> = { planned: 1, backoff: 2, retryAfter: 2 };

interface Lag extends StagedLag {
  readonly kind: Kind;
  readonly number: number;
}
interface Seen {
  readonly lags: readonly Lag[];
  readonly early: number;
}
type Round = Seen & StagedTurn;

export const dueLag: Scenario = {
  name: "due-lag",
  title: "arrival behind the stored due time: planned, after 503 with backoff, after 429 with Retry-After",
  defaults: { deliveries: 3_000, seconds: 10, slots: 512 },
  run: (options) =>
    withBench(options.deliveries * REQUESTS.backoff * options.rounds, async (bench) => {
      const { database } = bench;
      const each = Math.max(1, Math.floor(options.deliveries / KINDS.length));
      const rounds: Round[] = [];
      await explainWork(bench);
      for (let number = 1; number <= options.rounds; number++) {
        const seen = await oneRound(bench, number, each, options);
        rounds.push(seen);
        progress(
          `round ${number} of ${options.rounds}: p99 ${round(p99Of(seen.lags), 1)} ms, ${seen.early} early`,
        );
      }
      return report(rounds, { each, rounds: options.rounds, ...machineFacts(database) });
    }),
};

async function oneRound(bench: Bench, number: number, each: number, options: BenchOptions): Promise<Round> {
  const { database, receiver } = bench;
  await clearRun(database.pool);
  await forgetClaims(database.pool);
  const before = (await receiver.client.totals()).requests;
  const tenants = new Map<Kind, BenchTenant>();
  for (const kind of KINDS) {
    // New names in each round: the receiver remembers what it did to a destination.
    const destinations = Array.from({ length: each }, (_, n) => ({
      path: PATHS[kind](number * 100_000 + n),
    }));
    tenants.set(kind, await makeTenant(database.pool, receiver.url, { destinations }));
  }
  const worker = await spawnBenchWorker(database.url, options.slots);
  let watched: Watched<void>;
  try {
    watched = await watchWhile(bench, worker, async () => {
      const spreadMs = options.seconds * 1_000;
      const dueInMs = (index: number) => LEAD_MS + (index * spreadMs) / each + Math.random();
      for (const tenant of tenants.values()) {
        await fillDeliveries(database.pool, tenant, each, jsonBody(options.bodyBytes), { dueInMs });
      }
      await hint(database.pool);
      const expected = KINDS.reduce((sum, kind) => sum + REQUESTS[kind] * each, 0);
      const requests = async () => (await receiver.client.totals()).requests;
      await untilCount(requests, before + expected, spreadMs + ARRIVAL_TIMEOUT_MS);
    });
  } finally {
    // It stops when the last outcomes are recorded: from then on the database is complete.
    await worker.stop();
  }
  const seen = await compareWithReceiver(bench, tenants, each);
  return { ...seen, load: watched.load, stall: stallReport(seen.lags, watched.stalls) };
}

/** @throws Error when the receiver and the database do not tell of the same attempts, each exactly once */
async function compareWithReceiver(
  { database, receiver }: Bench,
  tenants: ReadonlyMap<Kind, BenchTenant>,
  each: number,
): Promise<Seen> {
  const arrivedAt = new Map<string, number>();
  for (const { webhookId, attempt, arrivedAtMs } of await receiver.client.requests()) {
    const name = `${webhookId} ${attempt}`;
    if (arrivedAt.has(name)) throw new Error(`${name} was requested twice`);
    arrivedAt.set(name, arrivedAtMs);
  }
  const lags: Lag[] = [];
  let early = 0;
  for (const [kind, { tenantId }] of tenants) {
    const stored = await stagedAttempts(database.pool, tenantId);
    if (stored.length !== REQUESTS[kind] * each) {
      throw new Error(`${kind}: ${stored.length} attempts for ${each} deliveries`);
    }
    for (const attempt of stored) {
      const arrived = arrivedAt.get(`${attempt.webhookId} ${attempt.number}`);
      if (arrived === undefined) throw new Error(`${kind}: an attempt never arrived`);
      const lag = stagedLag(attempt, attempt.dueAtMs, arrived);
      if (attempt.early || lag.lagMs < -CLOCK_TOLERANCE_MS) early++;
      lags.push({ ...lag, kind, number: attempt.number });
    }
  }
  return { lags, early };
}

function report(rounds: readonly Round[], facts: Record<string, unknown>) {
  const at = (share: number, wanted: (lag: Lag) => boolean = () => true) =>
    round(
      median(
        rounds.map(({ lags }) =>
          percentile(
            lags.filter(wanted).map(({ lagMs }) => lagMs),
            share,
          ),
        ),
      ),
      1,
    );
  const early = rounds.reduce((sum, each) => sum + each.early, 0);
  const retried = (kind: Kind) => (lag: Lag) => lag.kind === kind && lag.number === REQUESTS[kind];
  return {
    goals: [
      atMost("p99 ms behind the stored due time", at(0.99), GOAL_P99_MS),
      atMost("requests before their due time", early, 0),
    ],
    facts: {
      ...facts,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
      early,
      ...explained(rounds),
      p99MsByKind: Object.fromEntries(KINDS.map((kind) => [kind, at(0.99, retried(kind))])),
    },
  };
}
