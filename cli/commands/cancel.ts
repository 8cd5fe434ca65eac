/** `sluice cancel`: ends a waiting delivery without sending it. */
import { withControls } from "../controls/caller.ts";
import { printAnswer, readControlArgs, reasonOf, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice cancel <dlv_...> --region us --reason "..."

Ends a waiting delivery without sending it. Its row, its history and its key stay: the same key later is still a repeat. One
that is in flight is refused.

${SHARED_HELP}`;

export async function run(args: string[]): Promise<number> {
  const asked = readControlArgs(args, { words: ["<dlv_...>"] });
  const deliveryId = asked.words[0] ?? "";
  return withControls(asked.region, async (controls) => {
    const answer = await controls.change("cancelDelivery", { deliveryId, ...reasonOf(asked) });
    return printAnswer(asked, `${deliveryId} is cancelled`, answer);
  });
}
