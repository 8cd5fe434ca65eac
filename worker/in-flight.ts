/**
 * What this process is sending: counted by lane, class, tenant and destination, for the plan and for the heartbeat.
 * A slot is taken when a row is claimed and given back when its outcome has been committed or it was released; the
 * exact limits are the claim's, these numbers may lag behind it. No timer and no promise lives here.
 */
import type { Lane, ServiceClass } from "#domain/delivery.ts";

export interface InFlightKey {
  readonly id: string;
  readonly lane: Lane;
  readonly serviceClass: ServiceClass;
  readonly tenantId: string;
  readonly destinationId: string;
}

export class InFlight {
  readonly slots: number;
  /** Slots on top, for first attempts of tenants that hold next to nothing. */
  readonly lightReserve: number;
  readonly byLane: Record<Lane, number> = { first: 0, retry: 0, replay: 0 };
  readonly byClass: Record<ServiceClass, number> = { urgent: 0, routine: 0 };
  readonly #tenants = new Map<string, number>();
  readonly #destinations = new Map<string, number>();
  readonly #held = new Map<string, InFlightKey>();
  readonly #onFree: (key: InFlightKey) => void;
  #idle: (() => void)[] = [];

  constructor(slots: number, onFree: (key: InFlightKey) => void, lightReserve = 0) {
    this.slots = slots;
    this.lightReserve = lightReserve;
    this.#onFree = onFree;
  }

  get size(): number {
    return this.#held.size;
  }

  get free(): number {
    return Math.max(0, this.slots - this.#held.size);
  }

  /** Free slots for a light tenant's work. */
  get room(): number {
    return Math.max(0, this.slots + this.lightReserve - this.#held.size);
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  ofTenant(tenantId: string): number {
    return this.#tenants.get(tenantId) ?? 0;
  }

  ofDestination(destinationId: string): number {
    return this.#destinations.get(destinationId) ?? 0;
  }

  /** @throws when the delivery is in flight here already: one process never sends a delivery twice at once. */
  take(key: InFlightKey): void {
    if (this.#held.has(key.id)) throw new Error(`delivery ${key.id} is in flight already`);
    this.#held.set(key.id, key);
    this.#count(key, 1);
  }

  giveBack(id: string): void {
    const key = this.#held.get(id);
    if (key === undefined) return;
    this.#held.delete(id);
    this.#count(key, -1);
    this.#onFree(key);
    if (this.#held.size === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Resolves when nothing is in flight. */
  whenIdle(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #count(key: InFlightKey, by: 1 | -1): void {
    this.byLane[key.lane] += by;
    this.byClass[key.serviceClass] += by;
    addTo(this.#tenants, key.tenantId, by);
    addTo(this.#destinations, key.destinationId, by);
  }
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const next = (counts.get(key) ?? 0) + by;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
