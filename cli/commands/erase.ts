/** `sluice erase payload`: erases a body in its one place, or only takes it out of reach. Later attempts make no request. */
import type { Facts } from "#db/console/commands/run-command.ts";
import { UsageError } from "../command.ts";
import { withControls } from "../controls/caller.ts";
import { printAnswer, readControlArgs, reasonOf, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice erase payload <pay_...|dlv_...> --region us [--restrict | --lift] --reason "..."

Erases the body, for every delivery that uses it and for ever; a dlv_ id names the body of that delivery. Deliveries that
still wait end as payload_erased, without a request. What stays: the key with the body's SHA-256, sizes, and what the
receiver answered. A request that is on its way is not called back.

  --restrict             the same for every later attempt, but the bytes are kept apart
  --lift                 give a restricted body back; what died meanwhile needs a reviewed batch
${SHARED_HELP}`;

const OPTIONS = {
  restrict: { type: "boolean", default: false },
  lift: { type: "boolean", default: false },
} as const;

export async function run(args: string[]): Promise<number> {
  if (args[0] !== "payload") throw new UsageError('the only thing to erase is a "payload"');
  const asked = readControlArgs(args, { words: ["payload", "<pay_...|dlv_...>"], options: OPTIONS });
  const [restrict, lift] = [asked.flag("restrict"), asked.flag("lift")];
  if (restrict && lift) throw new UsageError("--restrict and --lift are opposites");
  return withControls(asked.region, async (controls) => {
    const payloadId = await controls.payload(asked.words[1] ?? "");
    const name = restrict ? "restrictPayload" : lift ? "liftRestriction" : "erasePayload";
    const answer = await controls.change(name, { payloadId, ...reasonOf(asked) });
    const done = restrict ? "restricted" : lift ? "given back" : "erased";
    return printAnswer(asked, `the body of ${payloadId} is ${done}; ${usersOf(answer.after)}`, answer);
  });
}

function usersOf({ waiting, leased, dead }: Facts): string {
  return `waiting ${waiting}, dead ${dead}, perhaps in flight at this moment ${leased}`;
}
