/**
 * Tells the workers, after a commit, that there is something new, so that they need not find it by their probe.
 * A hint is a wish: it may be lost, merged with others or fail, and none of that may reach the business code.
 * It has a connection of its own, because a business transaction that notifies loses group commit.
 */
import { Client } from "pg";
import { NOTIFY_WAKE } from "./sql.ts";

export interface HinterSettings {
  /** A direct URL of the region's database; a transaction pooler is fine too. */
  readonly connectionString: string;
  /** Hears about hints that could not be sent. */
  readonly onError?: (error: Error) => void;
}

export interface Hinter {
  /** Sends a hint soon. Never throws, never waits. Call it after the commit, not inside the transaction. */
  hint(): void;
  /** Sends what is pending, then closes the connection. Later hints do nothing. */
  close(): Promise<void>;
}

/** Least time between two hints of one process: it bounds their cost, and the wait of a hint that is merged. */
const BETWEEN_HINTS_MS = 5;
/** After a failure hints are dropped for this long: a database that is down is not asked by every commit. */
const AFTER_FAILURE_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_000;
const CLOSE_TIMEOUT_MS = 1_000;

/** Opens nothing yet: the connection is made by the first hint and does not keep the process alive. */
export function createHinter(settings: HinterSettings): Hinter {
  const onError = (error: unknown) => report(settings.onError, error);
  let client: Client | null = null;
  let pending = false;
  let closed = false;
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let dropUntilMs = 0;
  let running: Promise<void> | null = null;

  const connect = async (): Promise<Client> => {
    const fresh = new Client({
      connectionString: settings.connectionString,
      application_name: "sluice-hint",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
    });
    fresh.on("error", (error) => {
      if (client === fresh) client = null;
      onError(error);
    });
    await fresh.connect();
    (fresh as Client & { unref(): void }).unref();
    return fresh;
  };

  const send = async (): Promise<void> => {
    try {
      client ??= await connect();
      await client.query(NOTIFY_WAKE);
    } catch (error) {
      dropUntilMs = performance.now() + AFTER_FAILURE_MS;
      pending = false;
      const broken = client;
      client = null;
      if (broken !== null) void endClient(broken);
      onError(error);
    }
  };

  const run = async (): Promise<void> => {
    while (pending) {
      await pauseUntil(sentAtMs + BETWEEN_HINTS_MS);
      pending = false;
      sentAtMs = performance.now();
      await send();
    }
    running = null;
  };

  return {
    hint: () => {
      if (closed || performance.now() < dropUntilMs) return;
      pending = true;
      running ??= run();
    },
    close: async () => {
      closed = true;
      await running;
      const last = client;
      client = null;
      if (last !== null) await endClient(last);
    },
  };
}

async function pauseUntil(atMs: number): Promise<void> {
  const ms = atMs - performance.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(ms)));
}

/** Whoever listens must not break the hinter, nor the business code behind it. */
function report(listener: ((error: Error) => void) | undefined, error: unknown): void {
  try {
    listener?.(error instanceof Error ? error : new Error(String(error)));
  } catch {
    // Their fault, and there is nobody to tell.
  }
}

/** A dead server does not answer the goodbye either; the process must not wait for it. */
async function endClient(client: Client): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    timer.unref();
  });
  await Promise.race([client.end().catch(() => {}), late]);
  clearTimeout(timer);
}
