/**
 * One worker process of a simulation: the shipped engine, upkeep and stop over simulated ports. It can be killed,
 * stopped and continued like a real one: a killed process never runs again, a frozen one notices nothing.
 */
import type { QueueStore } from "#db/queue/store.ts";
import type { Keyring } from "#db/secrets.ts";
import { STRICT_RULES } from "#domain/destination-url.ts";
import type { Region } from "#domain/region.ts";
import type { SeededRandom } from "#sim/random.ts";
import type { Owner, Scheduler, SimEvent } from "#sim/scheduler.ts";
import { ALL_ON } from "#worker/config.ts";
import { createEngine, type Engine } from "#worker/engine.ts";
import type { Logger } from "#worker/log.ts";
import type { HttpClient } from "#worker/parts.ts";
import { stopInOrder } from "#worker/stop-worker.ts";
import type { Timers } from "#worker/timers.ts";
import { startUpkeep, type Upkeep } from "#worker/upkeep.ts";
import type { Weather } from "./weather.ts";

const MS = 1_000;
/** Processes do not begin to count at the same moment. */
const LONGEST_UPTIME_US = 1_000_000 * MS;

export interface ProcessPorts {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly weather: () => Weather;
  readonly keyring: Keyring;
  readonly storeOf: (process: SimProcess) => QueueStore;
  readonly httpOf: (process: SimProcess) => HttpClient;
  readonly log: Logger;
  /** It has ended, by itself or by force. */
  readonly onEnd: (process: SimProcess) => void;
}

export interface ProcessSettings {
  readonly id: string;
  readonly region: Region;
  readonly slots: number;
  readonly probeMs: number;
  readonly drainMs: number;
}

export class SimProcess implements Owner {
  dead = false;
  backlog: SimEvent[] | null = null;
  readonly settings: ProcessSettings;
  #engine: Engine | null = null;
  #upkeep: Upkeep | null = null;
  #turning: Promise<void> = Promise.resolve();
  #stopping = false;
  readonly #ports: ProcessPorts;
  readonly #bootUs: number;

  constructor(settings: ProcessSettings, ports: ProcessPorts) {
    this.settings = settings;
    this.#ports = ports;
    this.#bootUs = ports.scheduler.nowUs - ports.random.int(0, LONGEST_UPTIME_US);
  }

  get id(): string {
    return this.settings.id;
  }

  /** Takes part in dispatching: neither dead nor stopped nor on its way out. */
  get isServing(): boolean {
    return !this.dead && this.backlog === null && !this.#stopping && this.#engine !== null;
  }

  /** Begins; a process that cannot reach the store at its start ends again. */
  start(): void {
    this.#assemble().catch(() => this.kill());
  }

  async #assemble(): Promise<void> {
    const { random, storeOf, httpOf, log, keyring } = this.#ports;
    const { id, region, slots, probeMs } = this.settings;
    const engine = await createEngine(
      { region, workerId: id, slots, keyring, sendingRules: STRICT_RULES, switches: ALL_ON },
      {
        store: storeOf(this),
        timers: this.#timers(),
        random: random.next,
        randomBytes: random.bytes,
        http: () => httpOf(this),
        log,
      },
    );
    this.#engine = engine;
    this.#upkeep = startUpkeep(engine.parts, probeMs, []);
    this.#turning = engine.dispatch.run();
    engine.parts.wake.raise(true);
  }

  /** SIGKILL. */
  kill(): void {
    if (this.dead) return;
    this.dead = true;
    this.#ports.onEnd(this);
  }

  /** SIGSTOP, and SIGCONT after a while. */
  freeze(forUs: number): void {
    if (this.dead || this.backlog !== null) return;
    this.backlog = [];
    this.#ports.scheduler.after(forUs, null, () => this.#ports.scheduler.thaw(this));
  }

  /** SIGTERM. */
  stop(): void {
    if (!this.isServing || this.#engine === null || this.#upkeep === null) return;
    this.#stopping = true;
    void stopInOrder({
      engine: this.#engine,
      upkeep: this.#upkeep,
      wakers: [],
      turning: this.#turning,
      drainMs: this.settings.drainMs,
      close: () => Promise.resolve(),
    }).then(() => this.kill());
  }

  /** NOTIFY was heard. */
  hint(): void {
    this.#engine?.parts.wake.raise(true);
  }

  /** graphile-worker ran the wake-up. */
  jobRan(): void {
    this.#engine?.dispatch.jobRan();
  }

  #timers(): Timers {
    const { scheduler, random, weather } = this.#ports;
    return {
      set: (fire, afterMs) =>
        scheduler.after(afterMs * MS + random.skewed(0, weather().timerLateUs), this, fire),
      clear: (timer) => {
        (timer as SimEvent).cancelled = true;
      },
      monotonicMs: () => (scheduler.nowUs - this.#bootUs) / MS,
    };
  }
}
