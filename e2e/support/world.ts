/**
 * The whole system for the browser tests: demo merchants in both regions, the receiver, a worker per region, the demo's
 * traffic and the console, all as real processes on real databases. Started once per test process and stopped with it.
 */
import { type BrowserContext, type BrowserContextOptions, test as base, type Page } from "@playwright/test";
import type { Pool } from "pg";
import { urlSetting } from "#db/config.ts";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { LOCAL_SENDING_SETTINGS } from "#db/sending-rules-config.ts";
import { type ReceiverProcess, spawnReceiver } from "#demo/receiver/spawn.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { seedRegion } from "#prisma/seed.ts";
import { findFreePort } from "#scripts/lib/embedded-postgres.ts";
import { type E2eConfig, readE2eConfig } from "../config.ts";
import { type Accounts, createAccounts, signInAs } from "./accounts.ts";
import { answers, type Child, startChild } from "./child.ts";
import { AUTH_SECRET, KEYRING, SECRET_KEYS } from "./secret-keys.ts";

const POOL_MAX = 4;
/** Deliveries per second and region: enough to see movement, little enough for two cores. */
const TRAFFIC_RATE = "5";
/** Limit of a receiving endpoint of the demo: slow enough to be reached on any machine. */
const ENDPOINT_LIMIT = { SLUICE_DEMO_ENDPOINT_RATE: "0.2", SLUICE_DEMO_ENDPOINT_BURST: "20" };
const WORLD_TIMEOUT_MS = 180_000;

export interface RegionHandle {
  pool: Pool;
  prisma: PrismaClient;
}

export interface World {
  config: E2eConfig;
  /** Origin of the console. */
  consoleUrl: string;
  receiver: ReceiverProcess;
  regions: Readonly<Record<Region, RegionHandle>>;
  /** One person of each role, and some with a narrower scope. */
  accounts: Accounts;
  /** Cookies of a signed-in operator: what every test starts with. */
  signedIn: Exclude<BrowserContextOptions["storageState"], string | undefined>;
  /** One more console process, with other databases. The caller stops it. */
  startConsole(
    urls: Readonly<Record<Region, string>>,
    env?: Readonly<Record<string, string>>,
  ): Promise<{ url: string; stop(): Promise<void> }>;
}

/** Every spec imports `test` and `expect` from here. */
export const test = base.extend<object, { world: World }>({
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixture's needs from this pattern.
    async ({}, use, { parallelIndex }) => {
      const stops: (() => Promise<unknown>)[] = [];
      try {
        await use(await startWorld(readE2eConfig(parallelIndex), stops));
      } finally {
        for (const stop of stops.reverse()) await stop();
      }
    },
    { scope: "worker", timeout: WORLD_TIMEOUT_MS },
  ],
  baseURL: async ({ world }, use) => use(world.consoleUrl),
  // Tests of the sign-in itself empty it: `test.use({ storageState: { cookies: [], origins: [] } })`.
  storageState: async ({ world }, use) => use(world.signedIn),
  context: async ({ context }, use) => use(patient(context)),
});
export { expect } from "@playwright/test";

/**
 * Its pages are opened the way a person opens them: nothing is pressed while the markup stands there and its script does
 * not listen yet. On a slow machine that is long enough for a test to press a key that nobody hears.
 */
export function patient(context: BrowserContext): BrowserContext {
  context.on("page", (page) => {
    const goto = page.goto.bind(page);
    const reload = page.reload.bind(page);
    page.goto = async (...args) => awake(page, await goto(...args));
    page.reload = async (...args) => awake(page, await reload(...args));
  });
  return context;
}

/** Only what has the console's frame wakes up: the sign-in, other sites and plain documents are there at once. */
async function awake<T>(page: Page, response: T): Promise<T> {
  await page.waitForFunction(
    () => document.getElementById("main") === null || "awake" in document.documentElement.dataset,
  );
  return response;
}

async function startWorld(config: E2eConfig, stops: (() => Promise<unknown>)[]): Promise<World> {
  const regions = { us: openRegion(config, "us"), eu: openRegion(config, "eu") };
  stops.push(() => Promise.all(REGIONS.map((region) => closeRegion(regions[region]))));
  const receiver = await spawnReceiver();
  stops.push(() => receiver.stop());
  for (const region of REGIONS) {
    const { prisma } = regions[region];
    await seedRegion({ prisma, region, keyring: KEYRING, receiverUrl: receiver.url });
  }
  const accounts = await createAccounts(regions);
  const demo = {
    SLUICE_RECEIVER_URL: receiver.url,
    SLUICE_SECRET_KEYS: SECRET_KEYS,
    ...LOCAL_SENDING_SETTINGS,
  };
  const workers = await Promise.all(REGIONS.map((region) => startWorker(config, region, demo)));
  stops.push(() => Promise.all(workers.map((worker) => worker.stop())));
  const web = await startConsole(config, config.urls, config.consolePort ?? (await findFreePort()));
  stops.push(() => web.stop());
  const traffic = await startTraffic(config, demo);
  stops.push(() => traffic.stop());
  return {
    config,
    consoleUrl: web.url,
    receiver,
    regions,
    accounts,
    signedIn: await signInAs(web.url, accounts.operator),
    startConsole: async (urls, env) => startConsole(config, urls, await findFreePort(), env),
  };
}

function openRegion(config: E2eConfig, region: Region): RegionHandle {
  const pool = createPool({
    connectionString: config.urls[region],
    max: POOL_MAX,
    applicationName: `sluice-e2e-${region}`,
  });
  return { pool, prisma: createPrisma(pool) };
}

async function closeRegion({ pool, prisma }: RegionHandle): Promise<void> {
  await prisma.$disconnect();
  await pool.end();
}

function urlsOf(urls: Readonly<Record<Region, string>>): Record<string, string> {
  return { DATABASE_URL_US: urls.us, DATABASE_URL_EU: urls.eu };
}

function startWorker(
  config: E2eConfig,
  region: Region,
  demo: Readonly<Record<string, string>>,
): Promise<Child> {
  return startChild({
    name: `worker ${region}`,
    args: ["cli/sluice.ts", "worker", "--region", region, "--health-port", "0", "--demo"],
    env: { [urlSetting(region)]: config.urls[region], ...demo },
    ready: (output) => output.includes('"event":"started"'),
  });
}

function startTraffic(config: E2eConfig, demo: Readonly<Record<string, string>>): Promise<Child> {
  return startChild({
    name: "traffic",
    args: ["demo/traffic/main.ts"],
    env: { ...urlsOf(config.urls), ...demo, SLUICE_DEMO_RATE: TRAFFIC_RATE },
    ready: (output) => output.includes("traffic ready"),
  });
}

async function startConsole(
  config: E2eConfig,
  urls: Readonly<Record<Region, string>>,
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const url = `http://127.0.0.1:${port}`;
  const child = await startChild({
    name: "console",
    args: ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", String(port)],
    env: {
      ...urlsOf(urls),
      SLUICE_NEXT_DIST: config.distDir,
      SLUICE_CONSOLE_URL: url,
      SLUICE_AUTH_SECRET: AUTH_SECRET,
      NEXT_TELEMETRY_DISABLED: "1",
      // The receiving endpoint of the demo, for receiving.spec.ts.
      SLUICE_DEMO_ENDPOINT: "on",
      ...ENDPOINT_LIMIT,
      SLUICE_SECRET_KEYS: SECRET_KEYS,
      ...env,
    },
    ready: () => answers(`${url}/healthz`),
  });
  return { url, stop: child.stop };
}
