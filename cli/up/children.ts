/** The processes of `sluice up`: what each is started with, when it counts as up, and when it stops. */
import { setTimeout as delay } from "node:timers/promises";
import type { RegionUrls } from "#db/config.ts";
import { urlSetting } from "#db/config.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { WORKER_NODE_FLAGS } from "#worker/node-flags.ts";
import { keySetting, localSendingSettings, type UpConfig } from "../config.ts";
import { consoleEnvironment } from "../console-config.ts";
import { type ChildSpec, type ManagedChild, manageChild } from "./child.ts";
import { createChildOutput } from "./output.ts";
import type { Supervisor } from "./supervisor.ts";

export interface StartOptions {
  config: UpConfig;
  urls: RegionUrls;
  logDir: string;
  showAll: boolean;
  say: (line: string) => void;
}

interface PlannedChild {
  spec: ChildSpec;
  stopOrder: number;
  /** Answers below 500 here mean that it is up. */
  readyUrl: string | null;
}

const READY_TIMEOUT_MS = 90_000;
const READY_POLL_MS = 150;
const READY_REQUEST_TIMEOUT_MS = 3_000;
const WORKER_STOP_TIMEOUT_MS = 20_000;
const SHORT_STOP_TIMEOUT_MS = 8_000;

/** Stop order: work stops coming in, workers finish, then what they sent to goes (the console has a receiving endpoint too). */
const STOP_ORDER = { traffic: 1, worker: 2, console: 3, receiver: 4 } as const;

/**
 * Starts all children and waits until each is up; the traffic comes last, when there is somebody to serve it.
 * @throws Error with one line when a child does not come up; what was started is the supervisor's to stop.
 */
export async function startChildren(options: StartOptions, supervisor: Supervisor): Promise<void> {
  const { config } = options;
  await startGroup(
    [receiver(config), ...REGIONS.map((region) => worker(region, options)), webConsole(options)],
    options,
    supervisor,
  );
  await startGroup([traffic(options)], options, supervisor);
}

async function startGroup(
  planned: PlannedChild[],
  options: StartOptions,
  supervisor: Supervisor,
): Promise<void> {
  const started = planned.map(({ spec, stopOrder, readyUrl }) => {
    const output = createChildOutput(spec.name, options.logDir, {
      showAll: options.showAll,
      write: options.say,
    });
    const child = manageChild(spec, output, options.say);
    supervisor.add(child, stopOrder);
    child.start();
    return { child, readyUrl };
  });
  await Promise.all(
    started.map(({ child, readyUrl }) => Promise.race([untilReady(child, readyUrl), child.failed])),
  );
}

function receiver({ ports }: UpConfig): PlannedChild {
  return {
    spec: {
      name: "receiver",
      args: ["demo/receiver/main.ts", "--port", String(ports.receiver)],
      env: {},
      stopTimeoutMs: SHORT_STOP_TIMEOUT_MS,
    },
    stopOrder: STOP_ORDER.receiver,
    readyUrl: `http://127.0.0.1:${ports.receiver}/`,
  };
}

/** A worker gets the URL of its own region only. */
function worker(region: Region, { config, urls }: StartOptions): PlannedChild {
  const healthPort = config.ports[region === "us" ? "workerUs" : "workerEu"];
  return {
    spec: {
      name: `worker ${region}`,
      args: [...WORKER_NODE_FLAGS, "cli/sluice.ts", "worker", "--region", region, "--demo"],
      env: {
        [urlSetting(region)]: urls[region],
        SLUICE_WORKER_HEALTH_PORT: String(healthPort),
        ...demoEnvironment(config),
      },
      stopTimeoutMs: WORKER_STOP_TIMEOUT_MS,
    },
    stopOrder: STOP_ORDER.worker,
    readyUrl: `http://127.0.0.1:${healthPort}/healthz`,
  };
}

function webConsole({ config, urls }: StartOptions): PlannedChild {
  const port = String(config.ports.console);
  return {
    spec: {
      name: "console",
      args: ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", port],
      env: {
        ...bothUrls(urls),
        ...consoleEnvironment(config.ports.console, config.dataDir),
        ...demoEnvironment(config),
        // The support desk's customer receives here.
        SLUICE_DEMO_ENDPOINT: "on",
        NODE_ENV: "production",
        NEXT_TELEMETRY_DISABLED: "1",
      },
      stopTimeoutMs: SHORT_STOP_TIMEOUT_MS,
    },
    stopOrder: STOP_ORDER.console,
    readyUrl: `http://127.0.0.1:${port}/healthz`,
  };
}

function traffic({ config, urls }: StartOptions): PlannedChild {
  return {
    spec: {
      name: "traffic",
      args: ["demo/traffic/main.ts"],
      env: { ...bothUrls(urls), ...demoEnvironment(config) },
      stopTimeoutMs: SHORT_STOP_TIMEOUT_MS,
    },
    stopOrder: STOP_ORDER.traffic,
    readyUrl: null,
  };
}

/** Both regions' URLs, for the children that serve both. */
export function bothUrls(urls: RegionUrls): Record<string, string> {
  return { DATABASE_URL_US: urls.us, DATABASE_URL_EU: urls.eu };
}

/** Where the demo's receivers are found, that they may be reached, and which key seals secrets, for seed, traffic, workers and console. */
export function demoEnvironment({ dataDir, ports }: UpConfig): Record<string, string> {
  return {
    SLUICE_RECEIVER_URL: `http://127.0.0.1:${ports.receiver}`,
    SLUICE_SUPPORT_URL: `http://127.0.0.1:${ports.console}`,
    ...keySetting(dataDir),
    ...localSendingSettings(),
  };
}

async function untilReady(child: ManagedChild, url: string | null): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (url !== null && !(await answers(url))) {
    if (performance.now() > deadline) {
      throw new Error(`${child.name} did not answer at ${url} within ${READY_TIMEOUT_MS / 1_000} s`);
    }
    await delay(READY_POLL_MS);
  }
  child.ready();
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(READY_REQUEST_TIMEOUT_MS),
      redirect: "manual",
    });
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    return false;
  }
}
