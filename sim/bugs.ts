/**
 * Bugs on purpose: each breaks one port the way a real mistake would, and names the invariant that has to notice it.
 * They are the test of the simulator. No shipped file knows of them, and no run uses one unless it is asked to.
 */
import type { FinishRow } from "#db/queue/finish.ts";
import type { HttpClient } from "#worker/parts.ts";
import type { Invariant } from "./check/violations.ts";
import type { SeededRandom } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { memoryStore, type SyncStore } from "./store/memory-store.ts";
import type { Database, Tables } from "./store/tables.ts";

export interface BugSurroundings {
  readonly database: Database;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
}

export interface Bug {
  readonly name: string;
  /** What went wrong, as one would write it into a report. */
  readonly what: string;
  readonly caughtBy: Invariant;
  /** The store as one process reaches it. */
  readonly breakStore?: (store: SyncStore, surroundings: BugSurroundings) => SyncStore;
  readonly breakHttp?: (client: HttpClient) => HttpClient;
}

const MS = 1_000;
/** A worker whose clock is ahead decides by it. */
const CLOCK_AHEAD_US = 150 * MS;
const PERSISTED_AFTER_US = 40 * MS;

/** Runs with the tables changed, and changes them back. */
function during<T>(change: () => () => void, run: () => T): T {
  const undo = change();
  try {
    return run();
  } finally {
    undo();
  }
}

/** Sets fields of every row of a map for the time of a statement. */
function pretend<Row extends object>(
  rows: ReadonlyMap<string, Row>,
  as: (row: Row) => Partial<Row>,
): () => void {
  const before = [...rows.values()].map((row) => {
    const changes = as(row);
    const was = Object.fromEntries(Object.keys(changes).map((key) => [key, row[key as keyof Row]]));
    Object.assign(row, changes);
    return () => Object.assign(row, was);
  });
  return () => {
    for (const undo of before) undo();
  };
}

const claimPretending =
  (change: (tables: Tables) => () => void) =>
  (store: SyncStore, { database }: BugSurroundings) => ({
    ...store,
    claim: (request: Parameters<SyncStore["claim"]>[0]) =>
      during(
        () => change(database.tables),
        () => store.claim(request),
      ),
  });

const finishing =
  (as: (row: FinishRow) => FinishRow) =>
  (store: SyncStore): SyncStore => ({
    ...store,
    finish: (rows) => store.finish(rows.map(as)),
  });

const CLAIM_BUGS: readonly Bug[] = [
  {
    name: "cap_off_by_one",
    what: "a destination's cap lets one more through",
    caughtBy: "destination_cap",
    breakStore: claimPretending((tables) =>
      pretend(tables.destinations, ({ concurrencyLimit }) => ({
        concurrencyLimit: (concurrencyLimit ?? tables.defaultDestinationConcurrency) + 1,
      })),
    ),
  },
  {
    name: "tenant_cap_ignored",
    what: "the claim does not look at the tenant's cap",
    caughtBy: "tenant_cap",
    breakStore: claimPretending((tables) => pretend(tables.tenants, () => ({ concurrencyLimit: 1_000 }))),
  },
  {
    name: "pause_ignored",
    what: "the claim takes rows of a paused destination or tenant",
    caughtBy: "held",
    breakStore: claimPretending((tables) => {
      const undo = [
        pretend(tables.destinations, () => ({ pausedAtUs: null })),
        pretend(tables.tenants, () => ({ pausedAtUs: null })),
      ];
      return () => {
        for (const each of undo) each();
      };
    }),
  },
  {
    name: "batch_not_asked",
    what: "rows of a replay batch are claimed whether it runs or not",
    caughtBy: "held",
    breakStore: claimPretending((tables) => {
      const before = new Map(tables.batches);
      for (const id of before.keys()) tables.batches.set(id, "running");
      return () => fill(tables.batches, before);
    }),
  },
  {
    name: "gate_ignored",
    what: "the claim does not look at the gate",
    caughtBy: "gate",
    breakStore: claimPretending((tables) =>
      pretend(tables.states, () => ({ holdUntilUs: null, probing: false })),
    ),
  },
  {
    name: "gate_opens_to_all",
    what: "a gate that has opened lets everything through at once",
    caughtBy: "gate",
    breakStore: claimPretending((tables) =>
      pretend(tables.states, ({ probing, adaptiveLimit }) => ({
        probing: false,
        adaptiveLimit: probing ? null : adaptiveLimit,
      })),
    ),
  },
  {
    name: "leased_not_excluded",
    what: "the claim takes rows that are leased already",
    caughtBy: "one_live_lease",
    breakStore: claimPretending((tables) => {
      const undo = pretend(tables.deliveries, (row) => ({
        state: row.state === "leased" ? "delayed" : row.state,
      }));
      const tokens = new Map([...tables.deliveries].map(([id, { leaseToken }]) => [id, leaseToken]));
      return () => {
        const taken = [...tables.deliveries.values()].filter((row) => row.leaseToken !== tokens.get(row.id));
        undo();
        for (const row of taken) row.state = "leased";
      };
    }),
  },
  {
    name: "due_by_own_clock",
    what: "the claim compares due times with the worker's clock, which is ahead",
    caughtBy: "due_time",
    breakStore: claimPretending((tables) =>
      pretend(tables.deliveries, ({ dueUs }) => ({ dueUs: dueUs - CLOCK_AHEAD_US })),
    ),
  },
  {
    name: "rate_per_process",
    what: "each process spends tokens of its own",
    caughtBy: "rate",
    breakStore: (store, { database: { tables } }) => {
      let own: Tables["rates"] = new Map();
      const swap = () => {
        const shared = new Map(tables.rates);
        fill(tables.rates, own);
        return () => {
          own = new Map(tables.rates);
          fill(tables.rates, shared);
        };
      };
      return { ...store, claim: (request) => during(swap, () => store.claim(request)) };
    },
  },
  {
    name: "token_not_awaited",
    what: "a request starts before the token that was taken ahead is there",
    caughtBy: "rate",
    breakStore: (store) => ({
      ...store,
      claim: (request) => {
        const answer = store.claim(request);
        return { ...answer, paces: answer.paces.map(() => null) };
      },
    }),
  },
];

const LEASE_BUGS: readonly Bug[] = [
  {
    name: "lease_never_returned",
    what: "nobody takes expired leases back",
    caughtBy: "liveness",
    breakStore: (store) => ({ ...store, returnExpiredLeases: () => ({ returned: 0, dead: 0 }) }),
  },
  {
    name: "live_lease_taken_back",
    what: "the reconciler's clock is ahead, so it takes leases back that still run",
    caughtBy: "one_live_lease",
    breakStore: (store, { database }) => {
      const ahead = memoryStore(
        { ...database, nowUs: () => database.nowUs() + CLOCK_AHEAD_US },
        () => undefined,
      );
      return { ...store, returnExpiredLeases: ahead.returnExpiredLeases };
    },
  },
  {
    name: "lost_lease_not_counted",
    what: "a lost lease does not count as a possible start",
    caughtBy: "attempts",
    breakStore: (store, { database: { tables } }) => ({
      ...store,
      returnExpiredLeases: () => {
        const before = new Map([...tables.deliveries].map(([id, { attempts }]) => [id, attempts]));
        const result = store.returnExpiredLeases();
        for (const row of tables.deliveries.values()) row.attempts = before.get(row.id) ?? row.attempts;
        return result;
      },
    }),
  },
  {
    name: "suspects_together",
    what: "rows with a lost lease are claimed like any others",
    caughtBy: "one_suspect",
    breakStore: claimPretending((tables) => pretend(tables.deliveries, () => ({ lostLeases: 0 }))),
  },
  {
    name: "lease_cut_short",
    what: "leases end a second before the worker thinks",
    caughtBy: "lease_covers_request",
    breakStore: (store) => ({
      ...store,
      claim: (request) => store.claim({ ...request, leaseMs: request.leaseMs - 1_000 }),
    }),
  },
  {
    name: "sent_twice",
    what: "the HTTP client repeats a request by itself",
    caughtBy: "one_live_lease",
    breakHttp: (client) => ({
      ...client,
      dispatch: (options, handler) => {
        client.dispatch(options, {});
        return client.dispatch(options, handler);
      },
    }),
  },
];

const RESULT_BUGS: readonly Bug[] = [
  {
    name: "no_fence",
    what: "a result is stored whatever lease it was sent under",
    caughtBy: "fence",
    breakStore: (store, { database: { tables } }) => ({
      ...store,
      finish: (rows) => {
        for (const { id, lease_token } of rows) {
          const row = tables.deliveries.get(id);
          if (row !== undefined) Object.assign(row, { state: "leased", leaseToken: lease_token });
        }
        return store.finish(rows);
      },
    }),
  },
  {
    name: "acknowledged_before_persisted",
    what: "a result counts as recorded before it is",
    caughtBy: "acknowledged",
    breakStore: (store, { scheduler, database: { tables } }) => ({
      ...store,
      finish: (rows) => {
        const ours = rows.filter(
          ({ id, lease_token }) => tables.deliveries.get(id)?.leaseToken === lease_token,
        );
        scheduler.after(PERSISTED_AFTER_US, null, () => void store.finish(rows));
        return new Map(ours.map(({ id }) => [id, scheduler.nowUs / MS]));
      },
    }),
  },
  {
    name: "early_jitter",
    what: "jitter on a Retry-After is taken off instead of added",
    caughtBy: "retry_after",
    breakStore: (store) => ({
      ...store,
      shutGate: (gate) => store.shutGate({ ...gate, delayMs: gate.delayMs * 0.7 }),
      finish: (rows) =>
        store.finish(
          rows.map((row) =>
            row.retry_after_asked_ms === undefined || row.delay_ms === undefined
              ? row
              : { ...row, delay_ms: Math.floor(row.delay_ms * 0.7) },
          ),
        ),
    }),
  },
  {
    name: "end_without_archive",
    what: "a delivered row is deleted and not archived",
    caughtBy: "nothing_lost",
    breakStore: (store, { random, database: { tables } }) => ({
      ...store,
      finish: (rows) => {
        const recorded = store.finish(rows);
        for (const { id, decision } of rows)
          if (decision === "delivered" && random.chance(0.1)) tables.ended.delete(id);
        return recorded;
      },
    }),
  },
  {
    name: "cut_off_counts_as_unsent",
    what: "a request that was cut off is recorded as if nothing had been sent",
    caughtBy: "attempts",
    breakStore: finishing((row) =>
      row.outcome === "shutdown" || row.outcome === "timeout" ? { ...row, sent: false } : row,
    ),
  },
  {
    name: "new_key_on_retry",
    what: "each attempt has a key of its own",
    caughtBy: "identity",
    breakStore: (store) => ({
      ...store,
      readClaimed: (ids, token) =>
        store
          .readClaimed(ids, token)
          .map((row) => ({ ...row, idempotencyKey: `${row.idempotencyKey}-${row.attempts}` })),
    }),
  },
  {
    name: "body_written_anew",
    what: "a retried body is serialised again, a little differently",
    caughtBy: "identity",
    breakStore: (store) => ({
      ...store,
      readClaimed: (ids, token) =>
        store
          .readClaimed(ids, token)
          .map((row) => (row.attempts === 0 ? row : { ...row, body: Buffer.from(` ${row.body}`) })),
    }),
  },
  {
    name: "retries_not_discovered",
    what: "discovery looks at first attempts only",
    caughtBy: "liveness",
    breakStore: (store) => ({
      ...store,
      recentLanes: (sinceMs) => {
        const recent = store.recentLanes(sinceMs);
        return { ...recent, heads: recent.heads.filter(({ lane }) => lane !== "retry") };
      },
      walkAllLanes: () =>
        store
          .walkAllLanes()
          .map((page) => (page.lane === "retry" ? { ...page, heads: [], next: null } : page)),
      walkLanes: (lane, serviceClass, from) =>
        lane === "retry" ? { heads: [], lanes: 0, next: null } : store.walkLanes(lane, serviceClass, from),
    }),
  },
];

export const BUGS: readonly Bug[] = [...CLAIM_BUGS, ...LEASE_BUGS, ...RESULT_BUGS];

function fill<K, V>(map: Map<K, V>, from: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of from) map.set(key, value);
}
