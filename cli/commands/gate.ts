/** `sluice gate open`: lets the probe of a shut gate go before its time. */
import { SluiceError } from "#domain/errors.ts";
import { UsageError } from "../command.ts";
import { withControls } from "../controls/caller.ts";
import { changeOf, printAnswer, readControlArgs, SHARED_HELP } from "../controls/options.ts";

export const help = `Usage: sluice gate open <dst_...|tenant/name> --region us --reason "..."

Opens the gate that a 429 or a 503 has shut. One delivery goes first; its answer lets the others follow or shuts the gate
again.

${SHARED_HELP}`;

export async function run(args: string[]): Promise<number> {
  if (args[0] !== "open") throw new UsageError('the only thing to do with a gate is "open"');
  const asked = readControlArgs(args, { words: ["open", "<destination>"] });
  return withControls(asked.region, async (controls) => {
    const { id, tenantSlug, name, version, gateUntil } = await controls.destination(asked.words[1] ?? "");
    if (gateUntil === null)
      throw new SluiceError("state_conflict", `the gate of ${tenantSlug}/${name} is not shut`);
    const answer = await controls.change("openGate", {
      destinationId: id,
      ...changeOf(asked, version),
      gateUntil,
    });
    return printAnswer(
      asked,
      `the gate of ${tenantSlug}/${name} is open (it was shut until ${gateUntil}); one delivery goes first`,
      answer,
    );
  });
}
