/**
 * Settings of a worker process, read from the environment and checked at start. It is the only file of this room
 * that looks at the environment. No message of it may hold the value of a URL or a key.
 */
import { z } from "zod";
import { type Environment as Env, readRegionUrl } from "#db/config.ts";
import type { Keyring } from "#db/secrets.ts";
import { readKeyring } from "#db/secrets-config.ts";
import { readSendingRules } from "#db/sending-rules-config.ts";
import type { SendingRules } from "#domain/destination-url.ts";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";

export interface WorkerSettings {
  readonly region: Region;
  readonly connectionString: string;
  /** For LISTEN, which a transaction pooler cannot carry; the same database. */
  readonly directConnectionString: string;
  readonly keyring: Keyring;
  /** Where requests may go. */
  readonly sendingRules: SendingRules;
  /** Requests in flight at once in this process. */
  readonly slots: number;
  /** How long a stop waits for requests in flight before it cuts them off. */
  readonly drainMs: number;
  /** How often due times are looked at when nobody says that there is something. */
  readonly probeMs: number;
  /** Loopback port of /healthz and /readyz; null for none. */
  readonly healthPort: number | null;
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  readonly switches: WorkerSwitches;
}

/** Parts that a test switches off to show that another part carries the promise alone. All are on by default. */
export interface WorkerSwitches {
  readonly probe: boolean;
  readonly timers: boolean;
  readonly reconciler: boolean;
  readonly listen: boolean;
  readonly sampler: boolean;
  readonly retention: boolean;
}

export const ALL_ON: WorkerSwitches = {
  probe: true,
  timers: true,
  reconciler: true,
  listen: true,
  sampler: true,
  retention: true,
};

const Environment = z.object({
  SLUICE_SLOTS: z.coerce.number().int().min(1).max(2_000).default(512),
  SLUICE_DRAIN_MS: z.coerce.number().int().min(0).max(120_000).default(8_000),
  SLUICE_PROBE_MS: z.coerce.number().int().min(50).max(60_000).default(250),
  SLUICE_WORKER_HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  SLUICE_LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
  SLUICE_WORKER_OFF: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    ),
});

/**
 * @throws SluiceError `bad_config` naming the first wrong setting.
 */
export function readWorkerSettings(region: Region, env: Env = process.env): WorkerSettings {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new SluiceError(
      "bad_config",
      `${issue?.path.join(".") ?? "setting"}: ${issue?.message ?? "is wrong"}`,
    );
  }
  const values = parsed.data;
  const connectionString = readRegionUrl(region, env);
  return {
    region,
    connectionString,
    directConnectionString: env.SLUICE_DIRECT_DATABASE_URL || connectionString,
    keyring: readKeyring(env),
    sendingRules: readSendingRules(env),
    slots: values.SLUICE_SLOTS,
    drainMs: values.SLUICE_DRAIN_MS,
    probeMs: values.SLUICE_PROBE_MS,
    healthPort: values.SLUICE_WORKER_HEALTH_PORT ?? null,
    logLevel: values.SLUICE_LOG_LEVEL,
    switches: readSwitches(values.SLUICE_WORKER_OFF),
  };
}

/** Threads of a worker process. Half of them may look names up at once. */
const THREADS = 64;

/**
 * Each question to the system's resolver holds a thread until it is answered, and Node has four: two names whose servers
 * are dead would keep every other receiver waiting. A thread that waits costs next to nothing. Only of use before the
 * process has done its first work on a thread; a setting of the caller stands.
 */
export function widenThreadPool(env: Record<string, string | undefined> = process.env): void {
  env.UV_THREADPOOL_SIZE ||= String(THREADS);
}

function readSwitches(off: readonly string[]): WorkerSwitches {
  const switches: Record<string, boolean> = { ...ALL_ON };
  for (const word of off) {
    if (!(word in switches)) {
      throw new SluiceError(
        "bad_config",
        `SLUICE_WORKER_OFF: ${word} is none of ${Object.keys(ALL_ON).join(", ")}`,
      );
    }
    switches[word] = false;
  }
  return { ...ALL_ON, ...switches };
}
