/**
 * One region of a simulation: its tables, its processes, the jobs and hints between them, and what happens to them.
 * Regions share receivers and nothing else.
 */
import type { Keyring } from "#db/secrets.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import type { Bug } from "#sim/bugs.ts";
import type { Violations } from "#sim/check/violations.ts";
import { Watch } from "#sim/check/watch.ts";
import type { SeededRandom } from "#sim/random.ts";
import type { Scheduler } from "#sim/scheduler.ts";
import { enqueue } from "#sim/store/enqueue.ts";
import { memoryStore, type SyncStore } from "#sim/store/memory-store.ts";
import { type Database, emptyTables, type Tables, type WakeJob } from "#sim/store/tables.ts";
import type { Logger } from "#worker/log.ts";
import { doSomething, letGo, type Staff } from "./controls.ts";
import { simulatedHttp } from "./http.ts";
import { linkedStore } from "./link.ts";
import { SimProcess } from "./process.ts";
import { Receiver } from "./receiver.ts";
import type { DeliveryPlan, Scenario } from "./scenario.ts";
import type { Weather } from "./weather.ts";

const MS = 1_000;
const SECOND = 1_000_000;
/** How soon graphile-worker fetches a job that is due. */
const FETCH_US = { low: MS, high: 2 * SECOND };
const RESTART_US = { low: 50 * MS, high: SECOND / 4 };
const OUTAGE_US = { low: 20 * MS, high: SECOND / 2 };
const FREEZE_US = { low: 50 * MS, high: 8 * SECOND };
/** Longer than whatever a process remembers of the time. */
const LONG_FREEZE_US = { low: 10 * SECOND, high: 40 * SECOND };
/** Between what a process did and what happens to it. */
const SOON_US = 30 * MS;

export interface RegionInput {
  readonly region: Region;
  readonly scenario: Scenario;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly weather: () => Weather;
  readonly violations: Violations;
  readonly keyring: Keyring;
  readonly sealedSecret: Buffer;
  readonly log: Logger;
  readonly bug: Bug | null;
}

export class SimRegion {
  readonly tables: Tables;
  readonly watch: Watch;
  readonly erased = new Set<string>();
  readonly #input: RegionInput;
  readonly #database: Database;
  readonly #core: SyncStore;
  readonly #receivers = new Map<string, Receiver>();
  readonly #deadly = new Set<string>();
  readonly #staff: Staff;
  #processes: SimProcess[] = [];
  #awayUntilUs = 0;
  #faulty = true;

  constructor(input: RegionInput) {
    const { region, scheduler, random, scenario, violations } = input;
    this.#input = input;
    this.tables = emptyTables(region);
    const nowUs = () => scheduler.nowUs;
    this.#database = {
      tables: this.tables,
      nowUs,
      uuid: () => this.#uuid(),
      hash: () => random.int(0, 1 << 30),
    };
    const { requestDeadlineMs, retryAfter } = scenario.policy;
    const timing = {
      requestDeadlineMs,
      retryAfterMinMs: retryAfter.minMs,
      retryAfterMaxMs: retryAfter.maxMs,
    };
    this.watch = new Watch(this.tables, violations, timing, nowUs);
    this.#core = withJobs(
      memoryStore(this.#database, () => this.#hint()),
      this.tables,
      (job) => this.#expectJob(job),
    );
    this.#staff = {
      tables: this.tables,
      random,
      nowUs,
      later: (afterUs, work) => void scheduler.after(afterUs, null, work),
    };
    this.#furnish();
  }

  receiverOf(destinationId: string): Receiver | undefined {
    const url = this.tables.destinations.get(destinationId)?.url;
    return url === undefined ? undefined : this.#receivers.get(new URL(url).origin);
  }

  get receivers(): Iterable<Receiver> {
    return this.#receivers.values();
  }

  get length(): number {
    return this.#input.scenario.length;
  }

  get maxFailures(): number {
    return this.#input.scenario.policy.maxFailures;
  }

  get hasWork(): boolean {
    return this.tables.deliveries.size > 0 || this.watch.enqueued.size < this.#distinct;
  }

  /** Processes start, deliveries are written as planned, faults and controls begin. */
  begin(): void {
    const { scenario, scheduler } = this.#input;
    for (let n = 0; n < scenario.processes; n++) this.#startProcess();
    const ids = [...this.tables.destinations.keys()];
    scenario.deliveries.forEach((plan, index) => {
      const destinationId = ids[plan.destination] as string;
      scheduler.after(plan.writtenAfterUs, null, () => this.#write(plan, index, destinationId));
      if (plan.twice)
        scheduler.after(plan.writtenAfterUs + SECOND / 2, null, () =>
          this.#write(plan, index, destinationId),
        );
    });
    this.#every(scenario.faultEveryUs, () => this.#harm());
    this.#every(scenario.controlEveryUs, () => doSomething(this.#staff));
  }

  /** No more faults: who is stopped goes on, who is gone is replaced, nothing is held back. */
  calm(): void {
    this.#faulty = false;
    this.#awayUntilUs = 0;
    for (const process of this.#processes) if (process.backlog !== null) this.#input.scheduler.thaw(process);
    this.#letGo();
  }

  /** Again and again: a 410 from before may disable a destination only now. */
  #letGo(): void {
    letGo(this.#staff);
    this.#input.scheduler.after(SECOND, null, () => this.#letGo());
  }

  get #distinct(): number {
    return this.#input.scenario.deliveries.length;
  }

  #every(us: number | null, work: () => void): void {
    const { scheduler, random } = this.#input;
    if (us === null) return;
    const next = () =>
      scheduler.after(random.int(us / 2, us * 1.5), null, () => {
        if (!this.#faulty) return;
        work();
        next();
      });
    next();
  }

  #furnish(): void {
    const { scenario, sealedSecret, region, random } = this.#input;
    const { tables } = this;
    tables.defaultTenantConcurrency = scenario.defaultTenantConcurrency;
    tables.defaultDestinationConcurrency = scenario.defaultDestinationConcurrency;
    for (const serviceClass of SERVICE_CLASSES) tables.policies.set(serviceClass, scenario.policy);
    const free = {
      pausedAtUs: null,
      pauseUntilUs: null,
      resumedAtUs: null,
      resumeShare: null,
      deletedAtUs: null,
      limitsChangedAtUs: 0,
    };
    const tenantIds = scenario.tenants.map((plan) => {
      const id = this.#uuid();
      tables.tenants.set(id, { id, claimOwner: "sluice", ...plan, ...free });
      return id;
    });
    scenario.destinations.forEach(({ tenant, profile, honoursKeys, ...limits }, index) => {
      const id = this.#uuid();
      const origin = `https://d${index}.${region}.example.com`;
      this.#receivers.set(origin, new Receiver(profile, honoursKeys, random));
      tables.destinations.set(id, {
        id,
        tenantId: tenantIds[tenant] as string,
        url: `${origin}/hook`,
        version: 1,
        disabledAtUs: null,
        secretCurrent: sealedSecret,
        policyOverride: null,
        ...limits,
        ...free,
      });
    });
    tables.batches.set(this.#uuid(), random.pick(["running", "canary_hold", "paused"]));
  }

  #write(plan: DeliveryPlan, index: number, destinationId: string): void {
    const { scheduler, random } = this.#input;
    const tenantId = this.tables.destinations.get(destinationId)?.tenantId as string;
    const id = this.#uuid();
    const body = `{"n":${index}}`;
    const dueUs = scheduler.nowUs + plan.dueAfterUs;
    const key = `order-${index}`;
    const given = {
      id,
      tenantId,
      destinationId,
      idempotencyKey: key,
      serviceClass: plan.serviceClass,
      body: Buffer.from(body),
      dueUs,
    };
    if (!enqueue(this.tables, given)) return;
    const row = this.tables.deliveries.get(id);
    if (plan.replayed && row !== undefined) {
      const batch = [...this.tables.batches.keys()][0] as string;
      Object.assign(row, { state: "delayed", lane: "replay", cycle: 2, replayBatchId: batch });
    }
    this.watch.enqueue(id, body);
    if (plan.deadly) this.#deadly.add(id);
    if (plan.erased) scheduler.after(random.int(0, 2 * SECOND), null, () => this.#erase(id));
    this.#hint();
  }

  #erase(payloadId: string): void {
    const payload = this.tables.payloads.get(payloadId);
    if (payload === undefined) return;
    payload.body = null;
    this.erased.add(payloadId);
  }

  #startProcess(): void {
    const { scenario, scheduler, random, weather, keyring, log, region, bug } = this.#input;
    const id = this.#uuid();
    this.tables.workers.add(id);
    const link = { scheduler, random, weather, isAway: () => scheduler.nowUs < this.#awayUntilUs };
    const process = new SimProcess(
      { id, region, slots: scenario.slots, probeMs: scenario.probeMs, drainMs: scenario.drainMs },
      {
        scheduler,
        random,
        weather,
        keyring,
        log,
        storeOf: (owner) => {
          const broken =
            bug?.breakStore?.(this.#core, { database: this.#database, scheduler, random }) ?? this.#core;
          return linkedStore(this.#harmAfterClaim(this.watch.wrap(broken, id), owner), { ...link, owner });
        },
        httpOf: (owner) => {
          const client = simulatedHttp({
            scheduler,
            random,
            weather,
            owner,
            receiverAt: (origin) => this.#receivers.get(origin),
            onConnecting: () => this.#harmSoon(owner),
            onSent: (sent) => {
              this.watch.requests.left(id, sent);
              if (this.#deadly.has(sent.deliveryId))
                scheduler.after(random.int(0, SOON_US), null, () => owner.kill());
              else this.#harmSoon(owner);
            },
            onClosed: (sent) => this.watch.requests.closed(sent),
            onReply: (sent, reply, atUs) => this.watch.requests.answered(sent, reply, atUs),
          });
          return bug?.breakHttp?.(client) ?? client;
        },
        onEnd: () => this.#replace(),
      },
    );
    this.#processes = [...this.#processes.filter(({ dead }) => !dead), process];
    process.start();
  }

  #replace(): void {
    const { scheduler, random } = this.#input;
    scheduler.after(random.int(RESTART_US.low, RESTART_US.high), null, () => this.#startProcess());
  }

  /** The worst moments: rows are claimed and not read yet, or a request is on its way. */
  #harmAfterClaim(store: SyncStore, owner: SimProcess): SyncStore {
    return {
      ...store,
      claim: (request) => {
        const answer = store.claim(request);
        if (answer.ids.length > 0) this.#harmSoon(owner);
        return answer;
      },
    };
  }

  #harmSoon(process: SimProcess): void {
    const { scheduler, random, weather, scenario } = this.#input;
    const { killed, frozen } = weather();
    const x = random.next();
    if (x >= killed + frozen) return;
    scheduler.after(random.skewed(0, SOON_US), null, () => {
      if (!this.#faulty) return;
      if (x < killed / 2) process.stop();
      else if (x < killed) process.kill();
      else
        process.freeze(
          random.chance(0.8)
            ? scenario.policy.leaseMs * MS * (0.2 + 2 * random.next())
            : random.int(LONG_FREEZE_US.low, LONG_FREEZE_US.high),
        );
    });
  }

  /** One fault of a process or of the database. */
  #harm(): void {
    const { random, scheduler } = this.#input;
    const process = random.pick(this.#processes);
    random.pick([
      () => process.kill(),
      () => process.stop(),
      () => process.freeze(random.skewed(FREEZE_US.low, FREEZE_US.high)),
      () => {
        this.#awayUntilUs = scheduler.nowUs + random.skewed(OUTAGE_US.low, OUTAGE_US.high);
      },
    ])();
  }

  #hint(): void {
    const { scheduler, random, weather } = this.#input;
    for (const process of this.#processes) {
      if (!process.isServing || random.chance(weather().hintLost)) continue;
      scheduler.after(random.skewed(MS / 10, 5 * MS), process, () => process.hint());
    }
  }

  /** graphile-worker fetches the job some time after it is due, in whichever process, unless it was replaced. */
  #expectJob(job: WakeJob): void {
    const { scheduler, random, weather } = this.#input;
    const atUs = Math.max(job.runAtUs, scheduler.nowUs) + random.skewed(FETCH_US.low, FETCH_US.high);
    scheduler.at(atUs, null, () => {
      if (this.tables.wakeJob !== job) return;
      if (random.chance(weather().jobLost)) {
        // Deleted by somebody, or fetched by a runner that died: then it stays, locked.
        if (random.chance(0.5)) this.tables.wakeJob = null;
        else job.locked = true;
        return;
      }
      const serving = this.#processes.filter(({ isServing }) => isServing);
      if (serving.length === 0) {
        this.#expectJob(job);
        return;
      }
      this.tables.wakeJob = null;
      random.pick(serving).jobRan();
    });
  }

  #uuid(): string {
    return uuidV7(this.#input.scheduler.nowUs / MS, this.#input.random.bytes);
  }
}

/** Tells of every job that a statement left behind. */
function withJobs(store: SyncStore, tables: Tables, expect: (job: WakeJob) => void): SyncStore {
  const told = <A extends unknown[], R>(run: (...given: A) => R) => {
    return (...given: A): R => {
      const before = tables.wakeJob;
      const result = run(...given);
      if (tables.wakeJob !== null && tables.wakeJob !== before) expect(tables.wakeJob);
      return result;
    };
  };
  return { ...store, writeWakeJob: told(store.writeWakeJob), restoreWakeJob: told(store.restoreWakeJob) };
}
