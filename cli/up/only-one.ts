/**
 * Makes sure that one `sluice up` runs per clone. The mark holds the process id and its start, so that a number
 * that the system gave to another process is not mistaken for a running one.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SluiceError } from "#domain/errors.ts";
import { isAlive } from "#scripts/lib/embedded-postgres.ts";

export interface Claim {
  /** True when the previous run was killed and may have left processes. */
  previousWasKilled: boolean;
  release(): void;
}

const ATTEMPTS = 3;
const START_TIME_FIELD = 19;

/**
 * Takes the clone for this process.
 * @throws SluiceError `state_conflict` when another `up` runs here.
 */
export function claimClone(dataDir: string): Claim {
  const file = path.join(dataDir, "up.lock");
  let previousWasKilled = false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      writeFileSync(file, `${process.pid} ${startOf(process.pid)}`, { flag: "wx" });
      return { previousWasKilled, release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const [pid, start] = readFileSync(file, "utf8").split(" ", 2);
    if (isAlive(Number(pid)) && startOf(Number(pid)) === start) {
      throw new SluiceError(
        "state_conflict",
        `Sluice already runs in this folder (process ${pid}): stop it first.`,
      );
    }
    previousWasKilled = true;
    rmSync(file, { force: true });
  }
  throw new SluiceError("state_conflict", "Another start of Sluice in this folder is under way: try again.");
}

/** When a process started, in the system's own notation without spaces; "0" when it cannot be told. */
function startOf(pid: number): string {
  try {
    if (process.platform === "linux") {
      // The second field is the program's name in brackets and may hold spaces.
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
      return fields?.[START_TIME_FIELD] ?? "0";
    }
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" })
      .trim()
      .replaceAll(/\s+/g, "-");
  } catch {
    return "0";
  }
}
