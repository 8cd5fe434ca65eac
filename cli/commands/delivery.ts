/** `sluice delivery retry|cancel|will-not-replay`: what can be done with one delivery, under one word. The verbs do the work. */
import { UsageError } from "../command.ts";
import { SHARED_HELP } from "../controls/options.ts";
import { run as cancel } from "./cancel.ts";
import { run as retry } from "./retry-now.ts";
import { run as willNotReplay } from "./will-not-replay.ts";

export const help = `Usage: sluice delivery retry <dlv_...>           --region us --reason "..."
       sluice delivery cancel <dlv_...>          --region us --reason "..."
       sluice delivery will-not-replay <dlv_...> --region us --reason "..."

The same as sluice retry-now, sluice cancel and sluice will-not-replay; "--help" of those says what each does.

${SHARED_HELP}`;

const VERBS: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  retry,
  cancel,
  "will-not-replay": willNotReplay,
};

export async function run(args: string[]): Promise<number> {
  const [word = "", ...rest] = args;
  const verb = Object.hasOwn(VERBS, word) ? VERBS[word] : undefined;
  if (verb === undefined)
    throw new UsageError("say what to do with the delivery: retry, cancel or will-not-replay");
  return verb(rest);
}
