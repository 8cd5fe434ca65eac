/**
 * The demo's settings, read from the environment and checked. It is the only file of this room that looks at it.
 *
 * - `SLUICE_RECEIVER_URL`: where the demo's receiver listens (default http://127.0.0.1:4400)
 * - `SLUICE_DEMO_RATE`: deliveries per second and region that the traffic aims at (default 25)
 * - `SLUICE_DEMO_MAX_WAITING`: waiting deliveries of one destination above which the traffic leaves it alone (default 300)
 * - `SLUICE_SUPPORT_URL`: where the support desk's customer receives (default http://127.0.0.1:3000, the console)
 * - `SLUICE_DEMO_ENDPOINT`: `on` makes the console serve that receiving endpoint (default off)
 * - `SLUICE_DEMO_ENDPOINT_RATE`: requests per second that one receiving endpoint takes (default 200)
 * - `SLUICE_DEMO_ENDPOINT_BURST`: requests that it takes at once after a rest (default 200)
 */
import { z } from "zod";
import { SluiceError } from "#domain/errors.ts";
import type { RateLimit } from "#domain/rate.ts";

export interface DemoConfig {
  /** Origin without a path or a slash at the end. */
  readonly receiverUrl: string;
  readonly deliveriesPerSecond: number;
  readonly maxWaiting: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_RECEIVER_URL = "http://127.0.0.1:4400";
const DEFAULT_SUPPORT_URL = "http://127.0.0.1:3000";
const DEFAULT_ENDPOINT_RATE = 200;
const DEFAULT_ENDPOINT_BURST = 200;
const MAX_ENDPOINT_RATE = 100_000;
const DEFAULT_RATE = 25;
const MAX_RATE = 500;
const DEFAULT_MAX_WAITING = 300;
const MAX_WAITING_LIMIT = 100_000;

/** @throws SluiceError `bad_config`, naming the setting */
export function readDemoConfig(env: Environment = process.env): DemoConfig {
  return {
    receiverUrl: readReceiverUrl(env),
    deliveriesPerSecond: readNumber(env, "SLUICE_DEMO_RATE", DEFAULT_RATE, MAX_RATE),
    maxWaiting: readNumber(env, "SLUICE_DEMO_MAX_WAITING", DEFAULT_MAX_WAITING, MAX_WAITING_LIMIT),
  };
}

/** @throws SluiceError `bad_config` when `SLUICE_RECEIVER_URL` is not an http URL without a path */
export function readReceiverUrl(env: Environment = process.env): string {
  return readOrigin(env, "SLUICE_RECEIVER_URL", DEFAULT_RECEIVER_URL);
}

/** @throws SluiceError `bad_config` when `SLUICE_SUPPORT_URL` is not an http URL without a path */
export function readSupportUrl(env: Environment = process.env): string {
  return readOrigin(env, "SLUICE_SUPPORT_URL", DEFAULT_SUPPORT_URL);
}

export interface DemoEndpointConfig {
  readonly isOn: boolean;
  /** Of one endpoint. */
  readonly limit: RateLimit;
}

/** @throws SluiceError `bad_config`, naming the setting */
export function readDemoEndpointConfig(env: Environment = process.env): DemoEndpointConfig {
  const text = env.SLUICE_DEMO_ENDPOINT || "off";
  if (text !== "on" && text !== "off") {
    throw new SluiceError("bad_config", "SLUICE_DEMO_ENDPOINT must be on or off.");
  }
  return {
    isOn: text === "on",
    limit: {
      ratePerSecond: readNumber(env, "SLUICE_DEMO_ENDPOINT_RATE", DEFAULT_ENDPOINT_RATE, MAX_ENDPOINT_RATE),
      burst: Math.ceil(
        readNumber(env, "SLUICE_DEMO_ENDPOINT_BURST", DEFAULT_ENDPOINT_BURST, MAX_ENDPOINT_RATE),
      ),
    },
  };
}

function readOrigin(env: Environment, setting: string, fallback: string): string {
  const text = env[setting] || fallback;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === null || !isHttp || url.pathname !== "/" || url.search !== "" || url.username !== "") {
    throw new SluiceError("bad_config", `${setting} must be an http URL without a path.`);
  }
  return url.origin;
}

function readNumber(env: Environment, setting: string, fallback: number, max: number): number {
  const parsed = z.coerce
    .number()
    .positive()
    .max(max)
    .safeParse(env[setting] || fallback);
  if (!parsed.success) {
    throw new SluiceError("bad_config", `${setting} must be a number above 0 and at most ${max}.`);
  }
  return parsed.data;
}
