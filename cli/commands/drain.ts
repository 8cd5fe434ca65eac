/** `sluice drain`: stops a region's claims and says when nothing is leased any more. */
import { setTimeout as delay } from "node:timers/promises";
import type { DrainStatus } from "#db/console/commands/drain-status.ts";
import { type Controls, withControls } from "../controls/caller.ts";
import { readDuration } from "../controls/duration.ts";
import {
  type ControlArgs,
  changeOf,
  printAnswer,
  readControlArgs,
  SHARED_HELP,
} from "../controls/options.ts";

export const help = `Usage: sluice drain --region us --reason "..." [--wait] [--timeout 2m]
       sluice drain --region us --status

Stops the claims of the region (a drain that stands already goes on), then counts the leases behind a barrier: zero is the
proof that nothing is being sent. "sluice resume region" starts claims again.

  --wait                 look again until no lease is left
  --timeout <length>     how long to wait (default 2m); exit code 1 when leases are left then
  --status               only look; changes nothing
${SHARED_HELP}`;

const OPTIONS = {
  wait: { type: "boolean", default: false },
  status: { type: "boolean", default: false },
  timeout: { type: "string" },
} as const;
const DEFAULT_TIMEOUT = "2m";
const LOOK_MS = 500;
/** After the claims were stopped: some leases remain. */
const EXIT_NOT_DRAINED = 1;

export async function run(args: string[]): Promise<number> {
  const asked = readControlArgs(args, { words: [], options: OPTIONS });
  const timeoutMs = readDuration("--timeout", asked.text("timeout") ?? DEFAULT_TIMEOUT);
  return withControls(asked.region, async (controls) => {
    if (!asked.flag("status")) {
      const { draining, version } = await controls.claims();
      if (!draining) {
        const answer = await controls.change("stopClaims", changeOf(asked, version));
        if (!asked.json) printAnswer(asked, "claims are stopped", answer);
      }
    }
    const status = await look(controls, asked, timeoutMs);
    if (asked.json) console.log(JSON.stringify(status));
    else console.log(sentence(status));
    return asked.flag("wait") && !status.drained ? EXIT_NOT_DRAINED : 0;
  });
}

async function look(controls: Controls, asked: ControlArgs, timeoutMs: number): Promise<DrainStatus> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const status = await controls.drain();
    if (!asked.flag("wait") || status.drained || performance.now() >= deadline) return status;
    await delay(LOOK_MS);
  }
}

function sentence(status: DrainStatus): string {
  const { region, leases, expiredLeases, lastLeaseUntil, workers } = status;
  const alive = `${workers} ${workers === 1 ? "worker" : "workers"} alive`;
  if (status.drained) return `${region}: drained: no lease is left (${alive}, ${status.asOf})`;
  const held = `${leases} ${leases === 1 ? "lease" : "leases"}`;
  if (status.claims === "on") return `${region}: claims are on, ${held}, ${alive}: not a drain`;
  if (leases === 0) return `${region}: not proven: an older claim is still going on (${alive})`;
  const expired = expiredLeases === 0 ? "" : `, ${expiredLeases} of them past their time`;
  return `${region}: not drained yet: ${held}${expired}, the last one ends by ${lastLeaseUntil} (${alive})`;
}
