/** A random script of store operations, controls and passing time, run on both stores at once. */
import type { ClaimEntry } from "#db/queue/claim.ts";
import type { FinishRow } from "#db/queue/finish.ts";
import type { HealthReport } from "#db/queue/note-health.ts";
import { LANES, type Lane, SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { enqueue } from "#sim/store/enqueue.ts";
import type { DeliveryRow } from "#sim/store/tables.ts";
import { change } from "./changes.ts";
import { furnish, type Places } from "./places.ts";
import { insertDelivery } from "./sql.ts";
import type { Twin } from "./twin.ts";

const MS = 1_000;
const SECOND = 1_000_000;
const COMPARE_EVERY = 12;

/** Tokens that were handed out, with the ids under them; some have ended since. */
interface Leased {
  readonly token: string;
  readonly id: string;
  readonly claimedMs: number;
}

export async function runScript(twin: Twin, operations: number): Promise<void> {
  await twin.begin();
  const script = new Script(twin, await furnish(twin));
  for (let nth = 1; nth <= operations; nth++) {
    await script.next();
    if (nth % COMPARE_EVERY === 0) await twin.compareTables();
  }
  await twin.compareTables();
}

class Script {
  readonly #twin: Twin;
  readonly #places: Places;
  readonly #leased: Leased[] = [];

  constructor(twin: Twin, places: Places) {
    this.#twin = twin;
    this.#places = places;
  }

  async next(): Promise<void> {
    const { random } = this.#twin;
    await this.#twin.tick(
      random.pick([0, 1, 333, 5 * MS, 20 * MS, 250 * MS, 1_500 * MS, 4 * SECOND, random.int(0, 90 * SECOND)]),
    );
    const operations = [
      ...[() => this.#claim(), () => this.#claim(), () => this.#claim(), () => this.#claim()],
      ...[() => this.#finish(), () => this.#finish(), () => this.#finish()],
      ...[() => this.#enqueue(), () => this.#enqueue(), () => this.#shutGate(), () => this.#noteHealth()],
      ...[
        () => this.#release(),
        () => this.#releaseUnanswered(),
        () => this.#stale(),
        () => this.#reconcile(),
        () => this.#discover(),
      ],
      ...[() => this.#read(), () => this.#jobs(), () => this.#disable()],
      ...[() => change(this.#twin, this.#places), () => change(this.#twin, this.#places)],
    ];
    await random.pick(operations)();
  }

  async #enqueue(): Promise<void> {
    const { random, tables, pool, nowUs } = this.#twin;
    for (let n = random.int(1, 6); n > 0; n--) {
      const destination = random.pick([...tables.destinations.values()]);
      const id = this.#twin.uuid();
      const body = Buffer.alloc(random.int(1, 60), "x");
      const dueUs =
        nowUs + random.pick([0, -1, random.int(-5 * SECOND, 2 * SECOND), random.int(-100, 30 * SECOND)]);
      const serviceClass = random.pick(SERVICE_CLASSES);
      enqueue(tables, {
        id,
        tenantId: destination.tenantId,
        destinationId: destination.id,
        idempotencyKey: id,
        serviceClass,
        body,
        dueUs,
      });
      const row = tables.deliveries.get(id) as DeliveryRow;
      if (random.chance(0.15)) {
        Object.assign(row, {
          state: "delayed",
          lane: "replay",
          cycle: 2,
          replayBatchId: this.#places.batchId,
        });
      }
      await insertDelivery(pool, row, body);
    }
  }

  async #claim(): Promise<void> {
    const { random } = this.#twin;
    const request = {
      owner: random.chance(0.95) ? "sluice" : "another",
      workerId: random.pick(this.#places.workers),
      leaseMs: random.pick([1_000, 3_000, 30_000]),
      maxBytes: random.chance(0.8) ? 10_000 : random.int(1, 120),
      entries: this.#entries(),
      token: this.#twin.uuid(),
    };
    const { token, ids, entries, claimedAtMs } = await this.#twin.both("claim", [request]);
    for (const { blocker, taken } of entries)
      this.#twin.met.add(taken > 0 ? "taken" : (blocker ?? "ran dry"));
    this.#leased.push(...ids.map((id) => ({ token, id, claimedMs: claimedAtMs })));
    if (ids.length === 0) return;
    await this.#twin.both("readClaimed", [ids, token], byId);
  }

  /** Lanes in any order, each at most once, some of them empty or unknown. */
  #entries(): ClaimEntry[] {
    const { random, tables } = this.#twin;
    const keys: Omit<ClaimEntry, "wanted">[] = [];
    for (const { id, tenantId } of tables.destinations.values()) {
      for (const lane of LANES)
        for (const serviceClass of SERVICE_CLASSES)
          keys.push({ lane, serviceClass, tenantId, destinationId: id });
    }
    keys.push({
      lane: "first",
      serviceClass: "routine",
      tenantId: this.#twin.uuid(),
      destinationId: this.#twin.uuid(),
    });
    const shuffled = keys.map((key) => ({ key, order: random.next() })).sort((a, b) => a.order - b.order);
    return shuffled
      .slice(0, random.int(1, keys.length))
      .map(({ key }) => ({ ...key, wanted: random.int(1, 6) }));
  }

  async #finish(): Promise<void> {
    const { random } = this.#twin;
    const rows = new Map<string, FinishRow>();
    for (let n = random.int(1, 6); n > 0; n--) {
      const lease = this.#pickLease();
      if (lease !== null) rows.set(lease.id, this.#outcome(lease));
    }
    if (rows.size > 0) await this.#twin.both("finish", [[...rows.values()]], (answer) => [...answer].sort());
  }

  #pickLease(): Leased | null {
    const { random } = this.#twin;
    if (this.#leased.length === 0) return null;
    // Mostly one that may still stand.
    const recent = this.#leased.slice(-8);
    const lease = random.pick(random.chance(0.8) ? recent : this.#leased);
    return random.chance(0.93) ? lease : { ...lease, token: this.#twin.uuid() };
  }

  #outcome({ id, token, claimedMs }: Leased): FinishRow {
    const { random } = this.#twin;
    const decision = random.pick(["delivered", "delayed", "delayed", "dead"] as const);
    const throttle = decision !== "delivered" && random.chance(0.4);
    const failure = decision !== "delivered" && !throttle;
    // Whatever is not sent ends.
    const sent = decision !== "dead" || random.chance(0.8);
    return {
      id,
      lease_token: token,
      attempt_id: this.#twin.uuid(),
      worker_id: random.pick(this.#places.workers),
      started_ms: claimedMs + random.int(0, 30),
      duration_ms: random.int(0, 500),
      outcome: decision === "delivered" ? "delivered" : throttle ? "rate_limited" : "server_error",
      decision,
      ...(decision === "delivered"
        ? {}
        : { reason: decision === "dead" ? "rejected" : "server_error", fingerprint: "f" }),
      status: decision === "delivered" ? 200 : throttle ? 429 : 500,
      sent,
      failure,
      rejection: failure && random.chance(0.2),
      throttle,
      opens_gate: sent && !throttle,
      delay_ms: decision === "delivered" ? undefined : random.int(0, 5_000),
    } as FinishRow;
  }

  async #stale(): Promise<void> {
    const lease = this.#pickLease();
    const row = lease === null ? undefined : this.#twin.tables.destinations.values().next().value;
    if (lease === null || row === undefined) return;
    await this.#twin.both("keepStaleResult", [
      {
        row: this.#outcome(lease),
        tenantId: row.tenantId,
        destinationId: row.id,
        serviceClass: "routine",
        lane: "retry",
        cycle: 1,
        number: this.#twin.random.int(1, 4),
        dueMs: lease.claimedMs,
      },
    ]);
  }

  async #release(): Promise<void> {
    const lease = this.#pickLease();
    if (lease === null) return;
    const ids = this.#leased.filter(({ token }) => token === lease.token).map(({ id }) => id);
    await this.#twin.both("release", [ids.length === 0 ? [lease.id] : ids, lease.token]);
  }

  /** As if the answer to a claim had been lost. */
  async #releaseUnanswered(): Promise<void> {
    const lease = this.#pickLease();
    await this.#twin.both("releaseUnanswered", [lease?.token ?? this.#twin.uuid()]);
  }

  async #shutGate(): Promise<void> {
    const { random, tables, nowUs } = this.#twin;
    const destination = random.pick([...tables.destinations.values()]);
    await this.#twin.both("shutGate", [
      {
        destinationId: destination.id,
        deliveryId: this.#pickLease()?.id ?? this.#twin.uuid(),
        delayMs: random.pick([1, 250, 2_000, random.next() * 10_000]),
        startedMs: nowUs / MS - random.pick([0, 10, 700, 5_000]),
        why: random.pick(["retry_after", "rate_limited"] as const),
        status: random.pick([429, 503, null]),
        retryAfter: random.pick([null, "2", "x".repeat(300)]),
      },
    ]);
  }

  async #noteHealth(): Promise<void> {
    const { random, tables } = this.#twin;
    const ids = [...tables.destinations.keys()].filter(() => random.chance(0.6));
    const reports = [...ids, this.#twin.uuid()].map((id) => this.#report(id));
    await this.#twin.both("noteHealth", [reports, random.next()], (answers) =>
      answers.toSorted((a, b) => (a.destinationId < b.destinationId ? -1 : 1)),
    );
  }

  #report(destination_id: string): HealthReport {
    const { random, nowUs } = this.#twin;
    const ago = () => Math.floor(nowUs / MS) - random.pick([0, 5, 400, 3_000, 40_000, 90_000_000]);
    const maybe = <K extends string>(key: K, value: () => unknown) =>
      random.chance(0.4) ? { [key]: value() } : {};
    const failures = random.pick([0, 0, 1, 7, 25]);
    const downs = random.pick([0, 0, 1, 7, 25]);
    return {
      destination_id,
      failures,
      downs,
      ...(failures > 0 ? { first_failure_ms: ago() } : {}),
      ...(downs > 0 ? { first_down_ms: ago(), last_down_started_ms: ago(), down_why: "503" } : {}),
      ...maybe("succeeded_ms", ago),
      ...maybe("alive_ms", ago),
      ...maybe("round_since_ms", ago),
      round_successes: random.int(0, 5),
      ...(random.chance(0.3)
        ? {
            timeout_started_ms: ago(),
            drain_gained: random.chance(0.3),
            ...maybe("service_ms", () => random.int(1, 4_000)),
          }
        : {}),
    } as HealthReport;
  }

  async #reconcile(): Promise<void> {
    await this.#twin.both("returnExpiredLeases", []);
    await this.#twin.both("cancelDeleted", []);
  }

  async #discover(): Promise<void> {
    const { random, nowUs } = this.#twin;
    const sinceMs = random.pick([0, nowUs / MS - random.int(0, 5_000)]);
    await this.#twin.both("recentLanes", [sinceMs], ({ heads, ...rest }) => ({
      ...rest,
      heads: sortedHeads(heads),
    }));
    const from = {
      tenantId: "00000000-0000-0000-0000-000000000000",
      destinationId: "00000000-0000-0000-0000-000000000000",
    };
    await this.#twin.both("walkAllLanes", []);
    await this.#twin.both("walkLanes", [random.pick(LANES), random.pick(SERVICE_CLASSES), from]);
    await this.#twin.both("nextDue", []);
  }

  async #read(): Promise<void> {
    const ids = [...this.#twin.tables.destinations.keys(), this.#twin.uuid()];
    await this.#twin.both("readLimits", [ids], byDestination);
    await this.#twin.both("readDestinations", [ids], byId);
    const lookBackMs = this.#twin.random.int(1, 20_000);
    await this.#twin.both("changedLimits", [this.#twin.nowUs / MS - lookBackMs], ({ changes, ...rest }) => ({
      ...rest,
      changes: changes.map(({ destinationId }) => destinationId).sort(),
    }));
    await this.#twin.both("heartbeat", [
      {
        id: this.#twin.random.pick([...this.#places.workers, this.#twin.uuid()]),
        inFlight: 1,
        state: "running",
      },
    ]);
    await this.#twin.both("readPolicies", []);
  }

  async #jobs(): Promise<void> {
    const { random, nowUs } = this.#twin;
    if (random.chance(0.5))
      await this.#twin.both("writeWakeJob", ["us", nowUs / MS + random.int(-1_000, 60_000)]);
    else await this.#twin.both("restoreWakeJob", ["us", random.pick([0, 1_000, 5_000])]);
  }

  async #disable(): Promise<void> {
    const { random, tables } = this.#twin;
    await this.#twin.both("disableDestination", [
      {
        destinationId: random.pick([...tables.destinations.keys()]),
        reason: "r",
        automatic: random.chance(0.7),
        actor: "worker",
        auditId: this.#twin.uuid(),
        correlationId: "c",
      },
    ]);
  }
}

function byId<T extends { id: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function byDestination<T extends { destinationId: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (a.destinationId < b.destinationId ? -1 : 1));
}

function sortedHeads<T extends { lane: Lane; serviceClass: ServiceClass; destinationId: string }>(
  heads: readonly T[],
): T[] {
  const key = ({ lane, serviceClass, destinationId }: T) => lane + serviceClass + destinationId;
  return heads.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
