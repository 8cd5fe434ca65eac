/** `sluice erase payload`: erases a body in its one place. Later attempts make no request. */
import { UsageError } from "../command.ts";
import { withControls } from "../controls/caller.ts";
import { changeOf, printAnswer, readControlArgs, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice erase payload <pay_...|dlv_...> --region us --reason "..."

Erases the body, for every delivery that uses it and for ever; a dlv_ id names the body of that delivery. Deliveries that
still wait end as payload_erased, without a request. What stays: the key with the body's SHA-256, sizes, and what the
receiver answered. A request that is on its way is not called back.

${SHARED_HELP}`;

export async function run(args: string[]): Promise<number> {
  if (args[0] !== "payload") throw new UsageError('the only thing to erase is a "payload"');
  const asked = readControlArgs(args, { words: ["payload", "<pay_...|dlv_...>"] });
  return withControls(asked.region, async (controls) => {
    const payloadId = await controls.payload(asked.words[1] ?? "");
    const { reason, ticket } = changeOf(asked, 1);
    const answer = await controls.change("erasePayload", { payloadId, reason, ticket });
    const { waiting, leased, dead } = answer.after;
    return printAnswer(
      asked,
      `the body of ${payloadId} is erased; waiting ${waiting}, dead ${dead}, perhaps in flight at this moment ${leased}`,
      answer,
    );
  });
}
