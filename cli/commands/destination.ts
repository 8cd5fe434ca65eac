/** `sluice destination enable|disable`: takes a destination out of service until somebody puts it back. */
import { UsageError } from "../command.ts";
import { withControls } from "../controls/caller.ts";
import { changeOf, printAnswer, readControlArgs, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice destination disable <dst_...|tenant/name> --region us --reason "..."
       sluice destination enable <dst_...|tenant/name>  --region us --reason "..."

Deliveries for a disabled destination are still written and held. Enabled, what has piled up begins at 20 % of its limits
and doubles every minute; fresh work passes at once.

${SHARED_HELP}`;

export async function run(args: string[]): Promise<number> {
  const what = args[0];
  if (what !== "enable" && what !== "disable") throw new UsageError("say what to do: enable or disable");
  const asked = readControlArgs(args, { words: [what, "<destination>"] });
  return withControls(asked.region, async (controls) => {
    const { id, tenantSlug, name, version } = await controls.destination(asked.words[1] ?? "");
    const command = { destinationId: id, ...changeOf(asked, version) };
    const answer = await controls.change(
      what === "enable" ? "enableDestination" : "disableDestination",
      command,
    );
    return printAnswer(asked, `destination ${tenantSlug}/${name} is ${what}d`, answer);
  });
}
