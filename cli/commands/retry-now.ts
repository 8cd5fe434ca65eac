/** `sluice retry-now`: makes a delayed delivery due now. */
import { withControls } from "../controls/caller.ts";
import { printAnswer, readControlArgs, reasonOf, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice retry-now <dlv_...> --region us --reason "..."

Makes a delayed delivery due now: the same delivery, with the same id and key. Pause, gate, caps and rate still apply. One
that is in flight or held is refused with the reason; a dead letter needs a reviewed batch.

${SHARED_HELP}`;

export async function run(args: string[]): Promise<number> {
  const asked = readControlArgs(args, { words: ["<dlv_...>"] });
  const deliveryId = asked.words[0] ?? "";
  return withControls(asked.region, async (controls) => {
    const answer = await controls.change("retryNow", { deliveryId, ...reasonOf(asked) });
    return printAnswer(asked, `${deliveryId} is due now`, answer);
  });
}
