/**
 * The application: writes deliveries at a steady rate through the outbox, in transactions of its own, and remembers
 * each one whose commit it saw. What it could not commit it writes again under the same key, until it has; so nothing
 * that it remembers may ever be missing. Some transactions are rolled back on purpose.
 */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "pg";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { fromPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import {
  createHinter,
  type DeliveryInput,
  enqueueDeliveries,
  type Hinter,
  outboxStatementName,
} from "#outbox/index.ts";
import type { LedgerEntry } from "./evidence.ts";
import type { Place } from "./places.ts";
import type { Chance } from "./random.ts";

const TICK_MS = 50;
const POOL_MAX = 6;
/** Transactions in flight; above this the writer waits, as an application would. */
const MAX_OPEN = 8;
const AGAIN_MS = 100;
const ROLLBACK_SHARE = 0.01;
const URGENT_SHARE = 0.2;
const MAX_WAIT_MS = 5_000;
const TRANSACTION_MS = 10_000;
const MAX_INPUTS = 200;

class RolledBack extends Error {}

export class RegionLoad {
  readonly ledger: LedgerEntry[] = [];
  readonly rolledBackKeys: string[] = [];
  /** Tries of a transaction that did not commit. */
  failures = 0;
  #hints = true;
  #running = false;
  #open = 0;
  #loop: Promise<void> | null = null;
  #count = 0;
  readonly #tag: string;
  readonly #region: Region;
  readonly #places: readonly Place[];
  readonly #chance: Chance;
  readonly #pool: Pool;
  readonly #prisma: PrismaClient;
  readonly #hinter: Hinter;

  /** @param tag stands in every key, so that keys of two runs never meet */
  constructor(tag: string, region: Region, url: string, places: readonly Place[], chance: Chance) {
    this.#tag = tag;
    this.#region = region;
    this.#places = places;
    this.#chance = chance;
    this.#pool = createPool({ connectionString: url, max: POOL_MAX, applicationName: "chaos-writer" });
    this.#prisma = createPrisma(this.#pool, { statementName: outboxStatementName });
    this.#hinter = createHinter({ connectionString: url });
  }

  start(perSecond: number): void {
    this.#running = true;
    this.#loop = this.#run(perSecond);
  }

  /** Whether commits are followed by a hint. */
  set hints(on: boolean) {
    this.#hints = on;
  }

  /** Ends the load; resolves when everything that was begun is committed. */
  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
    while (this.#open > 0) await pause(TICK_MS);
  }

  async close(): Promise<void> {
    await this.#hinter.close();
    await this.#prisma.$disconnect();
    await this.#pool.end();
  }

  /** Writes `count` deliveries to one place in one transaction, on top of the load. Resolves after its commit. */
  async write(place: Place, count: number): Promise<string[]> {
    return this.#commit(Array.from({ length: Math.min(count, MAX_INPUTS) }, () => this.#input(place)));
  }

  /** Writes to several places in one transaction. */
  async writeMixed(counts: ReadonlyMap<Place, number>): Promise<string[]> {
    const inputs = [...counts].flatMap(([place, count]) =>
      Array.from({ length: count }, () => this.#input(place)),
    );
    return this.#commit(inputs.slice(0, MAX_INPUTS));
  }

  async #run(perSecond: number): Promise<void> {
    let owed = 0;
    for (let last = performance.now(); this.#running; ) {
      await pause(TICK_MS);
      const now = performance.now();
      owed = Math.min(owed + ((now - last) / 1_000) * perSecond, MAX_INPUTS);
      last = now;
      if (this.#open >= MAX_OPEN || owed < 1) continue;
      const count = Math.floor(owed);
      owed -= count;
      const inputs = Array.from({ length: count }, () => this.#input(this.#anyPlace()));
      if (this.#chance.next() < ROLLBACK_SHARE) void this.#rollBack(inputs);
      else void this.#commit(inputs);
    }
  }

  #anyPlace(): Place {
    let left = this.#chance.next();
    for (const place of this.#places) {
      left -= place.share;
      if (left < 0) return place;
    }
    return this.#chance.pick(this.#places);
  }

  #input(place: Place): DeliveryInput & { readonly destinationId: string } {
    const key = `chaos:${this.#tag}:${this.#region}:${++this.#count}`;
    return {
      region: this.#region,
      tenantId: place.tenantId,
      destinationId: place.destinationId,
      eventType: "chaos.event",
      idempotencyKey: key,
      body: JSON.stringify({ key, place: place.name, text: "x".repeat(this.#count % 400) }),
      serviceClass: this.#chance.next() < URGENT_SHARE ? "urgent" : "routine",
    };
  }

  /** Never rejects: the same keys, until the commit is seen. Returns the ids of the deliveries. */
  async #commit(inputs: readonly (DeliveryInput & { readonly destinationId: string })[]): Promise<string[]> {
    this.#open++;
    // Bounded by the run itself: a database that never comes back fails the wait for quiet.
    for (;;) {
      try {
        const written = await this.#prisma.$transaction((tx) => enqueueDeliveries(tx, inputs), {
          maxWait: MAX_WAIT_MS,
          timeout: TRANSACTION_MS,
        });
        if (this.#hints) this.#hinter.hint();
        const ids = written.map(({ deliveryId }) => fromPublicId("dlv", deliveryId));
        inputs.forEach((input, index) => {
          this.ledger.push({
            key: input.idempotencyKey,
            region: this.#region,
            destinationId: input.destinationId,
            deliveryId: ids[index] ?? "",
            bodySha256: createHash("sha256").update(input.body).digest("hex"),
          });
        });
        this.#open--;
        return ids;
      } catch {
        this.failures++;
        await pause(AGAIN_MS);
      }
    }
  }

  async #rollBack(inputs: readonly DeliveryInput[]): Promise<void> {
    this.#open++;
    const keys = inputs.map(({ idempotencyKey }) => idempotencyKey);
    this.rolledBackKeys.push(...keys);
    await this.#prisma
      .$transaction(
        async (tx) => {
          await enqueueDeliveries(tx, inputs);
          throw new RolledBack("on purpose");
        },
        { maxWait: MAX_WAIT_MS, timeout: TRANSACTION_MS },
      )
      .catch(() => undefined);
    this.#open--;
  }
}
