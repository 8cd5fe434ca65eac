/**
 * What a chaos run stands on: one Postgres server with a database for each region, the receiver in its own process,
 * worker processes of both regions, and writers. Everything that it starts it ends, also after a failure.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { createDatabase, dropDatabase, withDatabase } from "#db/admin.ts";
import { createPool } from "#db/pool.ts";
import { type ReceiverProcess, spawnReceiver } from "#demo/receiver/spawn.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { migrate } from "#prisma/migrate.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { endWorkers } from "#tests/support/worker-process.ts";
import { writePolicy } from "#tests/support/worker-rows/sql.ts";
import { type RestartableServer, startRestartableServer } from "#tests/support/worker-server.ts";
import type { ChaosOptions } from "./config.ts";
import { type FleetLog, startFleet, type WorkerSlot } from "./fleet.ts";
import { RegionLoad } from "./load.ts";
import {
  CHAOS_POLICY,
  FREE_CAP,
  PLACE_KINDS,
  type Place,
  receiverNameOf,
  repeated,
  TENANT_CAPS,
} from "./places.ts";
import { chanceFrom } from "./random.ts";

export interface RegionWorld {
  readonly region: Region;
  /** Straight to the server, past every proxy. */
  readonly url: string;
  readonly pool: Pool;
  readonly places: readonly Place[];
  readonly workers: readonly WorkerSlot[];
  readonly load: RegionLoad;
}

export interface World {
  readonly regions: Readonly<Record<Region, RegionWorld>>;
  readonly receiver: ReceiverProcess;
  /** Null when the servers were given: they are not ours to stop. */
  readonly server: RestartableServer | null;
  /** Connections that the server has room for; null when it is not ours. */
  readonly maxConnections: number | null;
  readonly log: FleetLog;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 160;
const POOL_MAX = 6;
const MAX_RECORDS = 2_000_000;
/** Enough for every request of the longest run: nothing may be forgotten, or the evidence has holes. */
const RECEIVER = ["--records", String(MAX_RECORDS), "--keys", "5000000"];

export async function openWorld(options: ChaosOptions): Promise<World> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    // Newest first; one that fails must not keep the others from ending.
    for (const end of closers.splice(0).reverse()) await end().catch(() => undefined);
  };
  try {
    const server =
      options.serverUrls === null
        ? await startRestartableServer({ max_connections: String(MAX_CONNECTIONS) })
        : null;
    if (server !== null) closers.push(() => server.stop());
    const receiver = await spawnReceiver(RECEIVER);
    closers.push(() => receiver.stop());
    closers.push(() => endWorkers());
    const log: FleetLog = { harms: [], words: new Map(), unexpectedExits: [] };
    const opened = await Promise.all(
      REGIONS.map((region) => {
        const serverUrl = server?.url ?? options.serverUrls?.[region] ?? "";
        return openRegion(region, serverUrl, receiver, options, log, closers);
      }),
    );
    const [us, eu] = opened as [RegionWorld, RegionWorld];
    const maxConnections = server === null ? null : MAX_CONNECTIONS;
    return { regions: { us, eu }, receiver, server, maxConnections, log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openRegion(
  region: Region,
  serverUrl: string,
  receiver: ReceiverProcess,
  options: ChaosOptions,
  log: FleetLog,
  closers: (() => Promise<unknown>)[],
): Promise<RegionWorld> {
  const name = `sluice_chaos_${region}_${randomBytes(4).toString("hex")}`;
  await createDatabase(serverUrl, name);
  closers.push(() => dropDatabase(serverUrl, name));
  const url = withDatabase(serverUrl, name);
  await migrate({ connectionString: url, region });
  const pool = createPool({ connectionString: url, max: POOL_MAX, applicationName: "chaos-harness" });
  closers.push(() => pool.end());
  for (const serviceClass of ["urgent", "routine"] as const)
    await writePolicy(pool, serviceClass, CHAOS_POLICY);
  const places = await makePlaces(pool, region, receiver);
  const tag = randomBytes(4).toString("hex");
  const load = new RegionLoad(tag, region, url, places, chanceFrom(options.seed + (region === "us" ? 1 : 2)));
  closers.push(() => load.close());
  const workers = await startFleet(region, options.workers, url, pool, log);
  closers.push(() => Promise.all(workers.map((worker) => worker.proxy.close())));
  return { region, url, pool, places, workers, load };
}

async function makePlaces(pool: Pool, region: Region, { url, client }: ReceiverProcess): Promise<Place[]> {
  const tenants = new Map<string, string>();
  const places: Place[] = [];
  for (const kind of PLACE_KINDS) {
    const tenantId =
      tenants.get(kind.tenant) ??
      (await makeTenant(pool, { concurrencyLimit: TENANT_CAPS[kind.tenant] ?? FREE_CAP }));
    tenants.set(kind.tenant, tenantId);
    const receiverName = receiverNameOf(region, kind);
    const destinationId = await makeDestination(pool, tenantId, {
      url: `${url}${kind.path.replace("<name>", receiverName)}`,
      concurrencyLimit: kind.concurrencyLimit ?? null,
      ratePerSecond: kind.ratePerSecond ?? null,
      ...(kind.rateBurst === undefined ? {} : { rateBurst: kind.rateBurst }),
    });
    if (kind.script !== undefined) await client.script(receiverName, repeated(kind.script));
    places.push({ ...kind, region, tenantId, destinationId, receiverName });
  }
  return places;
}
