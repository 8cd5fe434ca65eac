/**
 * Puts the receiving endpoint together from this process's settings: a small pool of its own in each region, the keyring
 * and the limiter. The pools are the customer's; the console's must not wait for them.
 */
import type { Pool } from "pg";
import { readRegionUrl } from "#db/config.ts";
import { createPool } from "#db/pool.ts";
import { readKeyring } from "#db/secrets-config.ts";
import { readDemoEndpointConfig } from "#demo/config.ts";
import { ERRORS } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { createEndpointBook } from "./endpoints.ts";
import { createInbox, type Inbox, type InboxSettings } from "./inbox.ts";
import { createLimiter } from "./limiter.ts";
import { problem } from "./problem.ts";

export interface OpenInbox {
  readonly inbox: Inbox;
  close(): Promise<void>;
}

const POOL_MAX = 4;
/** Well below a sender's deadline: it is to hear 503 rather than nothing. */
const STATEMENT_TIMEOUT_MS = 3_000;
const CONNECTION_TIMEOUT_MS = 2_000;

/** Next loads modules more than once per process, so what the console serves stands on globalThis. */
const shared = globalThis as typeof globalThis & { sluiceDemoInbox?: OpenInbox };

/** @throws SluiceError `bad_config` when the keys are missing; a region's URL is looked at when it is first needed */
export function openInbox(more: Pick<InboxSettings, "beforeAcknowledge"> = {}): OpenInbox {
  const pools = new Map<Region, Pool>();
  const poolOf = (region: Region) => {
    const known = pools.get(region);
    if (known !== undefined) return known;
    const pool = createPool({
      connectionString: readRegionUrl(region),
      max: POOL_MAX,
      applicationName: `sluice-demo-inbox-${region}`,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      queryTimeoutMs: STATEMENT_TIMEOUT_MS + CONNECTION_TIMEOUT_MS,
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    });
    pools.set(region, pool);
    return pool;
  };
  const inbox = createInbox({
    endpoints: createEndpointBook(poolOf, readKeyring(), () => performance.now()),
    poolOf,
    limiter: createLimiter(readDemoEndpointConfig().limit),
    nowMs: () => Date.now(),
    onError: (error) => console.error("demo endpoint:", error instanceof Error ? error.message : error),
    ...more,
  });
  return {
    inbox,
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}

/** The console's endpoint: answers 404 unless `SLUICE_DEMO_ENDPOINT` is on. Never rejects. */
export const consoleInbox: Inbox = async (request, address) => {
  try {
    if (!readDemoEndpointConfig().isOn) {
      return problem("not_found", "The demo's receiving endpoint is off (SLUICE_DEMO_ENDPOINT).");
    }
    shared.sluiceDemoInbox ??= openInbox();
  } catch (error) {
    console.error("demo endpoint:", error instanceof Error ? error.message : error);
    return problem("internal", ERRORS.internal.summary);
  }
  return shared.sluiceDemoInbox.inbox(request, address);
};
