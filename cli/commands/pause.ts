/** `sluice pause tenant|destination|region`: holds work. A tenant or destination needs an end. */
import type { PauseEnd } from "#domain/commands-pause.ts";
import { UsageError } from "../command.ts";
import { type Controls, withControls } from "../controls/caller.ts";
import { readDuration } from "../controls/duration.ts";
import {
  type ControlArgs,
  changeOf,
  printAnswer,
  readControlArgs,
  SHARED_HELP,
} from "../controls/options.ts";

export const help = `Usage: sluice pause tenant <slug|ten_...>                 --region us --for 1h --reason "..."
       sluice pause destination <dst_...|tenant/name>    --region us --for 1h --reason "..."
       sluice pause region                               --region us --reason "..."

Holds work where it is: nothing is lost, new work is still accepted, what is in flight ends. When it answers, no claim
that predates it can still commit. A pause that stands already gets the new end and the new reason.

  --for <length>         90s, 30m, 4h, 7d
  --until <moment>       2026-11-30T20:00:00Z
${SHARED_HELP}`;

const OPTIONS = { for: { type: "string" }, until: { type: "string" } } as const;

export async function run(args: string[]): Promise<number> {
  const kind = args[0];
  if (kind === "region") return pauseRegion(args);
  if (kind !== "tenant" && kind !== "destination")
    throw new UsageError("say what to pause: tenant, destination or region");
  const asked = readControlArgs(args, { words: [kind, "<which>"], options: OPTIONS });
  const end = readEnd(asked);
  return withControls(asked.region, (controls) => pauseOne(controls, kind, asked, end));
}

async function pauseOne(
  controls: Controls,
  kind: "tenant" | "destination",
  asked: ControlArgs,
  end: PauseEnd,
): Promise<number> {
  const reference = asked.words[1] ?? "";
  if (kind === "tenant") {
    const { id, slug, version } = await controls.tenant(reference);
    const answer = await controls.change("pauseTenant", { tenantId: id, ...changeOf(asked, version), end });
    return printAnswer(asked, `tenant ${slug} is paused until ${answer.after.pauseUntil}`, answer);
  }
  const { id, tenantSlug, name, version } = await controls.destination(reference);
  const answer = await controls.change("pauseDestination", {
    destinationId: id,
    ...changeOf(asked, version),
    end,
  });
  return printAnswer(
    asked,
    `destination ${tenantSlug}/${name} is paused until ${answer.after.pauseUntil}`,
    answer,
  );
}

async function pauseRegion(args: string[]): Promise<number> {
  const asked = readControlArgs(args, { words: ["region"] });
  return withControls(asked.region, async (controls) => {
    const { version } = await controls.claims();
    const answer = await controls.change("stopClaims", changeOf(asked, version));
    return printAnswer(asked, "claims are stopped; sluice drain says when the last lease has ended", answer);
  });
}

function readEnd(asked: ControlArgs): PauseEnd {
  const length = asked.text("for");
  const until = asked.text("until");
  if ((length === undefined) === (until === undefined)) {
    throw new UsageError("a pause needs an end: give either --for or --until");
  }
  return length === undefined ? { until: String(until) } : { forMs: readDuration("--for", length) };
}
