/** Runs a script of the project as the whole work of a verb: same terminal, same signals, same exit code. */
import { spawn } from "node:child_process";
import path from "node:path";
import { ROOT } from "./config.ts";

/**
 * Runs `script` (relative to the clone) with the current Node and waits for its end. `env` takes the place of ours.
 * @returns its exit code, or 1 when a signal ended it.
 */
export function runScript(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv | undefined = undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    // The parent's channel, when there is one, is not passed on: a signal is, and the script ends with us.
    const child = spawn(process.execPath, [path.join(ROOT, script), ...args], {
      cwd: ROOT,
      stdio: "inherit",
      ...(env === undefined ? {} : { env }),
    });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    process.on("SIGTERM", forward);
    // The terminal sends Ctrl-C to the script as well; here it must only not end us before it.
    const wait = () => {};
    process.on("SIGINT", wait);
    child.once("error", reject);
    child.once("exit", (code) => {
      process.off("SIGTERM", forward);
      process.off("SIGINT", wait);
      resolve(code ?? 1);
    });
  });
}
