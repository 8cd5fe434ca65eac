/** `sluice will-not-replay`: says of a dead letter that it will not be sent again. The row stays. */
import { withControls } from "../controls/caller.ts";
import { changeOf, printAnswer, readControlArgs, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice will-not-replay <dlv_...> --region us --reason "..."

Says of a dead letter that it will not be sent again, and why. Nothing is removed; a batch that has frozen it skips it.

${SHARED_HELP}`;

export async function run(args: string[]): Promise<number> {
  const asked = readControlArgs(args, { words: ["<dlv_...>"] });
  const deliveryId = asked.words[0] ?? "";
  return withControls(asked.region, async (controls) => {
    const version = await controls.deadLetter(deliveryId);
    const answer = await controls.change("willNotReplay", { deliveryId, ...changeOf(asked, version) });
    return printAnswer(asked, `${deliveryId} will not be replayed`, answer);
  });
}
