/**
 * The worker's log: JSON lines on standard output, one for each attempt. No body, no secret, no header value and no
 * URL may be given to it; `redact` is the second line of defence, not the first.
 */
import pino from "pino";

export type Logger = Pick<pino.Logger, "debug" | "info" | "warn" | "error" | "isLevelEnabled"> & {
  flush(): void;
};

const BUFFER_BYTES = 8_192;
const FLUSH_MS = 250;

/** Lines are buffered for at most FLUSH_MS; `flush` writes what is left, for instance before exit. */
export function createLog(level: string, base: Record<string, unknown>): Logger {
  const destination = pino.destination({ dest: 1, minLength: BUFFER_BYTES, sync: false });
  const log = pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ["*.body", "*.secret", "*.authorization", "*.url"],
    },
    destination,
  );
  const timer = setInterval(() => destination.flush(), FLUSH_MS);
  timer.unref();
  return Object.assign(log, {
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        // Not opened yet: nothing was written.
      }
    },
  });
}
