/** `sluice resume tenant|destination|region`: ends a pause. What has piled up ramps, fresh work passes. */
import { UsageError } from "../command.ts";
import { type Controls, withControls } from "../controls/caller.ts";
import {
  type ControlArgs,
  changeOf,
  printAnswer,
  readControlArgs,
  SHARED_HELP,
} from "../controls/options.ts";

export const help = `Usage: sluice resume tenant <slug|ten_...>                --region us --reason "..."
       sluice resume destination <dst_...|tenant/name>   --region us --reason "..."
       sluice resume region                              --region us --reason "..."

Work that was due before begins with a share of cap and rate, doubled every minute; later work passes at once.

  --share <percent>      where the ramp begins, 0.1 to 100 (default 20); 100 means no ramp
${SHARED_HELP}`;

const OPTIONS = { share: { type: "string" } } as const;

export async function run(args: string[]): Promise<number> {
  const kind = args[0];
  if (kind === "region") return resumeRegion(args);
  if (kind !== "tenant" && kind !== "destination")
    throw new UsageError("say what to resume: tenant, destination or region");
  const asked = readControlArgs(args, { words: [kind, "<which>"], options: OPTIONS });
  const share = readShare(asked.text("share"));
  return withControls(asked.region, (controls) => resumeOne(controls, kind, asked, share));
}

async function resumeOne(
  controls: Controls,
  kind: "tenant" | "destination",
  asked: ControlArgs,
  share: { share?: number },
): Promise<number> {
  const reference = asked.words[1] ?? "";
  if (kind === "tenant") {
    const { id, slug, version } = await controls.tenant(reference);
    const answer = await controls.change("resumeTenant", {
      tenantId: id,
      ...changeOf(asked, version),
      ...share,
    });
    return printAnswer(asked, `tenant ${slug} is resumed${rampOf(answer.after.resumeShare)}`, answer);
  }
  const { id, tenantSlug, name, version } = await controls.destination(reference);
  const answer = await controls.change("resumeDestination", {
    destinationId: id,
    ...changeOf(asked, version),
    ...share,
  });
  return printAnswer(
    asked,
    `destination ${tenantSlug}/${name} is resumed${rampOf(answer.after.resumeShare)}`,
    answer,
  );
}

async function resumeRegion(args: string[]): Promise<number> {
  const asked = readControlArgs(args, { words: ["region"] });
  return withControls(asked.region, async (controls) => {
    const { version } = await controls.claims();
    const answer = await controls.change("startClaims", changeOf(asked, version));
    return printAnswer(asked, "claims are started", answer);
  });
}

function rampOf(share: unknown): string {
  return share === 1 ? "" : `; what has piled up begins at ${Number(share) * 100} %`;
}

function readShare(text: string | undefined): { share?: number } {
  if (text === undefined) return {};
  const percent = /^\d+(\.\d+)?%?$/.test(text) ? Number(text.replace("%", "")) : Number.NaN;
  if (!(percent >= 0.1 && percent <= 100))
    throw new UsageError("--share must be a percentage from 0.1 to 100");
  return { share: percent / 100 };
}
