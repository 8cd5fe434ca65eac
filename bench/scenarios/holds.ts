/**
 * 50,000 card holds that expire in one window, released by the demo's own sweep, all due at once; 2 % of the deliveries go
 * to destinations that take 5 requests a second. How many requests does the receiver see for each key, there and
 * elsewhere? Beside it a sender that tries each throttled key again after exactly 1 s, at equal destinations.
 */
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { sweep } from "#demo/holds/sweep.ts";
import { outboxStatementName } from "#outbox/index.ts";
import { createHttpClient } from "#worker/exchange.ts";
import type { BenchOptions } from "../config.ts";
import { headersOf } from "../contenders/send.ts";
import { naiveRequestsPerKey } from "../holds/naive.ts";
import { makeExpiredHolds } from "../holds/sql.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, beside, type Scenario } from "../lib/scenario.ts";
import { analyze, type BenchTenant, clearRun, makeTenant, setDraining } from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";
import { untilCount } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";

const GOAL_LIMITED = 1.2;
const GOAL_ELSEWHERE = 1;
const LIMITED_SHARE = 0.02;
/** What a limited merchant takes: its bucket holds one second's worth. We declare the rate with our default burst of 1. */
const RATE_PER_SECOND = 5;
/** 11 seconds' worth: a retry each second then makes (11 + 1) / 2 = 6 requests for each key. */
const KEYS_EACH = 55;
const FINISH_TIMEOUT_MS = 300_000;
const CONNECT_TIMEOUT_MS = 10_000;
const WRITER_POOL_MAX = 4;
/** Declared: the limit stands in the destination's row. Undeclared: only its 429s tell of it. */
const KINDS = ["declared", "undeclared"] as const;
type Kind = (typeof KINDS)[number];

const limitedPath = `/limit/${RATE_PER_SECOND}/${RATE_PER_SECOND}`;

interface Round {
  readonly limited: number;
  readonly elsewhere: number;
}

export const holds: Scenario = {
  name: "holds",
  title: "50,000 holds in one window, 2 % of the deliveries to destinations that take 5 a second",
  defaults: { deliveries: 50_000, destinations: 1_000, slots: 512, rounds: 3 },
  run: (options) =>
    withBench(0, async (bench) => {
      const limited = Math.max(1, Math.round((options.deliveries * LIMITED_SHARE) / KEYS_EACH));
      const client = createHttpClient(CONNECT_TIMEOUT_MS, { rules: LOCAL_SENDING_RULES });
      bench.defer(() => client.close());
      const rounds = new Map<Kind, Round[]>(KINDS.map((kind) => [kind, []]));
      const naive: number[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        for (const kind of KINDS) {
          const seen = await oneRound(bench, kind, `${kind}${number}`, limited, options);
          rounds.get(kind)?.push(seen);
          progress(
            `round ${number} of ${options.rounds}: ${kind} ${round(seen.limited, 3)} requests per key, elsewhere ${round(seen.elsewhere, 3)}`,
          );
        }
        const perKey = await naiveRequestsPerKey({
          client,
          receiver: bench.receiver,
          path: `${limitedPath}/naive${number}`,
          destinations: limited,
          keysEach: KEYS_EACH,
          body: jsonBody(options.bodyBytes),
          headersOf,
        });
        naive.push(perKey);
        progress(
          `round ${number} of ${options.rounds}: a fixed 1 s retry ${round(perKey, 3)} requests per key`,
        );
      }
      return report(bench, options, limited, rounds, naive);
    }),
};

async function oneRound(
  bench: Bench,
  kind: Kind,
  name: string,
  limitedDestinations: number,
  options: BenchOptions,
): Promise<Round> {
  const { database, receiver } = bench;
  await clearRun(database.pool);
  await setDraining(database.pool, true);
  const rate = kind === "declared" ? { ratePerSecond: RATE_PER_SECOND, rateBurst: 1 } : {};
  const limited = await makeTenant(database.pool, receiver.url, {
    destinations: Array.from({ length: limitedDestinations }, (_, n) => ({
      path: `${limitedPath}/limited-${name}-${n}`,
      ...rate,
    })),
  });
  const elsewhere = await makeTenant(database.pool, receiver.url, {
    destinations: Array.from({ length: options.destinations }, (_, n) => ({ path: `/ok/free-${name}-${n}` })),
  });
  const before = (await receiver.client.totals()).effects;
  await releaseHolds(bench, limited, elsewhere, options.deliveries);
  await analyze(database.pool);
  const worker = await spawnBenchWorker(database.url, options.slots);
  try {
    await setDraining(database.pool, false);
    const effects = async () => (await receiver.client.totals()).effects;
    await untilCount(effects, before + options.deliveries, FINISH_TIMEOUT_MS);
  } finally {
    await worker.stop();
  }
  const stats = await receiver.client.allStats();
  const perKey = (prefix: string, keys: number) => {
    const mine = stats.filter(({ destination }) => destination.startsWith(`${prefix}-${name}-`));
    const sum = (field: "requests" | "effects") => mine.reduce((total, each) => total + each[field], 0);
    if (sum("effects") !== keys) throw new Error(`${sum("effects")} effects for ${keys} keys at ${prefix}`);
    return sum("requests") / keys;
  };
  const limitedKeys = limitedDestinations * KEYS_EACH;
  return {
    limited: perKey("limited", limitedKeys),
    elsewhere: perKey("free", options.deliveries - limitedKeys),
  };
}

/** The business: expired holds, and its own sweep until none is left; the region's claims are off meanwhile. */
async function releaseHolds(
  { database }: Bench,
  limited: BenchTenant,
  elsewhere: BenchTenant,
  count: number,
): Promise<void> {
  const limitedKeys = limited.destinationIds.length * KEYS_EACH;
  const every = Math.max(1, Math.floor(count / limitedKeys));
  let used = 0;
  const list = Array.from({ length: count }, (_, index) => {
    const isLimited = used < limitedKeys && (index % every === 0 || count - index <= limitedKeys - used);
    const tenant = isLimited ? limited : elsewhere;
    const at = isLimited ? used++ : index;
    return { tenant, destinationId: tenant.destinationIds[at % tenant.destinationIds.length] ?? "" };
  });
  await makeExpiredHolds(database.pool, list);
  const pool = createPool({
    connectionString: database.url,
    max: WRITER_POOL_MAX,
    applicationName: "sluice-bench-writer",
  });
  const prisma = createPrisma(pool, { statementName: outboxStatementName });
  try {
    let released = 0;
    for (;;) {
      const swept = await sweep(prisma, { region: "us", stepMs: 0 });
      released += swept.deliveries;
      if (swept.released === 0) break;
    }
    if (released !== count) throw new Error(`the sweep wrote ${released} deliveries for ${count} holds`);
  } finally {
    await prisma.$disconnect();
    await pool.end();
  }
}

function report(
  { database }: Bench,
  options: BenchOptions,
  limitedDestinations: number,
  rounds: ReadonlyMap<Kind, readonly Round[]>,
  naive: readonly number[],
) {
  const of = (kind: Kind, where: keyof Round) =>
    round(median((rounds.get(kind) ?? []).map((seen) => seen[where])), 3);
  return {
    goals: [
      atMost("requests per key at limited destinations", of("declared", "limited"), GOAL_LIMITED),
      atMost("requests per key elsewhere", of("declared", "elsewhere"), GOAL_ELSEWHERE),
      beside("requests per key with a fixed 1 s retry", round(median(naive), 3)),
      beside("requests per key when the limit is not declared", of("undeclared", "limited")),
    ],
    facts: {
      holds: options.deliveries,
      limitedDestinations,
      limitedKeys: limitedDestinations * KEYS_EACH,
      limitedPerSecond: RATE_PER_SECOND,
      rounds: options.rounds,
      ...machineFacts(database),
      fixedOneSecondRetryPerKey: round(median(naive), 3),
      undeclaredLimitPerKey: of("undeclared", "limited"),
      undeclaredElsewherePerKey: of("undeclared", "elsewhere"),
    },
  };
}
