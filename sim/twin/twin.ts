/**
 * One region twice: in Postgres behind the shipped store, and in memory. Every operation runs on both at the same
 * simulated moment and must answer the same; the tables are compared row by row afterwards.
 */
import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { expect } from "vitest";
import { postgresStore, type QueueStore } from "#db/queue/store.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { SeededRandom } from "#sim/random.ts";
import { memoryStore, type SyncStore } from "#sim/store/memory-store.ts";
import { emptyTables, type Tables } from "#sim/store/tables.ts";
import { dumpMemory } from "./dump.ts";
import { clearTables, dump, setMoment } from "./sql.ts";

const START_US = Date.UTC(2027, 0, 1, 12) * 1_000;

export class Twin {
  nowUs = START_US;
  readonly tables: Tables = emptyTables("us");
  readonly random: SeededRandom;
  readonly pool: Pool;
  /** What was done, for the report of a difference. */
  readonly history: string[] = [];
  /** What claims gave as reasons, and "taken": a script that never met a reason says nothing about it. */
  readonly met = new Set<string>();
  readonly #postgres: QueueStore;
  readonly #memory: SyncStore;
  #uuid = "";

  constructor(pool: Pool, random: SeededRandom) {
    this.pool = pool;
    this.random = random;
    this.#postgres = postgresStore(pool);
    const database = {
      tables: this.tables,
      nowUs: () => this.nowUs,
      uuid: () => this.#uuid,
      hash: (text: string) => createHash("md5").update(text).digest().readInt32BE(0),
    };
    this.#memory = memoryStore(database, () => undefined);
  }

  async begin(): Promise<void> {
    await clearTables(this.pool);
    await this.tick(0);
  }

  uuid(): string {
    return uuidV7(Math.floor(this.nowUs / 1_000), this.random.bytes);
  }

  /** Time goes on, on both sides, and the next token is drawn. */
  async tick(us: number): Promise<void> {
    this.nowUs += us;
    this.#uuid = this.uuid();
    await setMoment(this.pool, this.nowUs, this.#uuid);
  }

  /** Runs one operation on both and compares what they answer. `normal` brings answers into one order. */
  async both<Name extends keyof QueueStore>(
    name: Name,
    given: Parameters<QueueStore[Name]>,
    normal: (answer: Awaited<ReturnType<QueueStore[Name]>>) => unknown = (answer) => answer,
  ): Promise<Awaited<ReturnType<QueueStore[Name]>>> {
    this.history.push(`${this.nowUs - START_US} us: ${name} ${JSON.stringify(given)}`);
    const ask = this.#postgres[name] as (
      ...given: unknown[]
    ) => Promise<Awaited<ReturnType<QueueStore[Name]>>>;
    const run = this.#memory[name] as (...given: unknown[]) => Awaited<ReturnType<QueueStore[Name]>>;
    const real = await ask(...given);
    const simulated = run(...given);
    expect(normal(simulated), this.#report(name)).toEqual(normal(real));
    return simulated;
  }

  async compareTables(): Promise<void> {
    const real = await dump(this.pool);
    const simulated = dumpMemory(this.tables);
    for (const table of Object.keys(real)) {
      expect(simulated[table], this.#report(`table ${table}`)).toEqual(real[table]);
    }
  }

  #report(what: string): string {
    return `simulated ${what} differs from Postgres after:\n${this.history.slice(-8).join("\n")}`;
  }
}
