/**
 * The demo's traffic as a process: `node demo/traffic/main.ts`. Reads DATABASE_URL_US and DATABASE_URL_EU,
 * SLUICE_SECRET_KEYS and the settings of demo/config.ts. Stops on SIGTERM, SIGINT, and when its parent is gone.
 */
import { parseArgs } from "node:util";
import { readRegionUrls } from "#db/config.ts";
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { openSecret } from "#db/secrets.ts";
import { readKeyring } from "#db/secrets-config.ts";
import { readDemoConfig } from "#demo/config.ts";
import { createReceiverClient } from "#demo/receiver/client.ts";
import { isSluiceError } from "#domain/errors.ts";
import { REGIONS } from "#domain/region.ts";
import { createHinter, outboxStatementName } from "#outbox/index.ts";
import { startTraffic } from "./traffic.ts";

const POOL_MAX = 4;
const STATEMENT_TIMEOUT_MS = 10_000;
const CONNECTION_TIMEOUT_MS = 3_000;
/** A database that does not answer must not hold up the end. */
const CLOSE_TIMEOUT_MS = 5_000;
const EXIT_AT_ONCE = 130;

const say = (line: string) => console.log(line);

function start(): () => Promise<void> {
  // No options yet, but a mistyped one must not be ignored.
  parseArgs({ options: {} });
  const urls = readRegionUrls();
  const config = readDemoConfig();
  const keyring = readKeyring();
  const receiver = createReceiverClient(config.receiverUrl);
  const regions = REGIONS.map((region) => {
    const pool = createPool({
      connectionString: urls[region],
      max: POOL_MAX,
      applicationName: `sluice-traffic-${region}`,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    });
    return {
      region,
      pool,
      prisma: createPrisma(pool, { statementName: outboxStatementName }),
      hinter: createHinter({ connectionString: urls[region] }),
    };
  });
  const traffic = startTraffic({
    ...config,
    regions,
    receiver,
    openSecret: (sealed) => openSecret(keyring, sealed),
    say,
  });
  say(`traffic ready, some ${config.deliveriesPerSecond} deliveries per second and region`);
  return async () => {
    await traffic.stop();
    await Promise.all(
      regions.map(async ({ prisma, hinter, pool }) => {
        await hinter.close();
        await prisma.$disconnect();
        await pool.end();
      }),
    );
    await receiver.close();
  };
}

function stopOnRequest(stop: () => Promise<void>): void {
  let stopping = false;
  const onRequest = () => {
    if (stopping) process.exit(EXIT_AT_ONCE);
    stopping = true;
    setTimeout(() => process.exit(0), CLOSE_TIMEOUT_MS).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onRequest);
  if (process.connected) {
    process.once("disconnect", () => {
      if (!stopping) onRequest();
    });
  }
}

try {
  stopOnRequest(start());
} catch (error) {
  console.error(
    `traffic: ${isSluiceError(error) ? error.detail : error instanceof Error ? error.message : error}`,
  );
  process.exitCode = 1;
}
