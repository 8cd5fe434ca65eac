/**
 * What a run has open: servers that would outlive this process. They are closed in reverse order, once, whether the run
 * ends by itself, fails, or is told to stop. A second signal ends the process at once.
 */

const CLOSE_TIMEOUT_MS = 40_000;
const INTERRUPTED = 130;
const FAILED = 1;

type Close = () => Promise<unknown>;

const open: Close[] = [];
let ending = false;

/** True once a signal or an error ends the run: nothing new may begin. */
export function isEnding(): boolean {
  return ending;
}

/** Remembers something to close; the last one first. */
export function closeLater(close: Close): void {
  open.push(close);
}

/** Closes everything that is open. One that fails must not keep the others open: a server would be left behind. */
export async function closeAll(): Promise<void> {
  for (let close = open.pop(); close !== undefined; close = open.pop()) await close().catch(() => undefined);
}

/** From now on a signal, or an error that nobody caught, closes everything before the process ends. */
export function closeOnTrouble(say: (why: string) => void): void {
  const end = (why: string, code: number) => {
    ending = true;
    say(why);
    setTimeout(() => process.exit(code), CLOSE_TIMEOUT_MS).unref();
    void closeAll().then(() => process.exit(code));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (ending) process.exit(INTERRUPTED);
      end(`${signal}: closing what is open`, INTERRUPTED);
    });
  }
  // What fails seldom fails alone, and closing makes more fail: the first one is told, and none keeps a server from being closed.
  const failed = (error: unknown) => {
    if (!ending) end(String(error), FAILED);
  };
  process.on("uncaughtException", failed);
  process.on("unhandledRejection", failed);
}
