/**
 * One control in several regions: a tenant of two regions is two rows with two versions, so it is one command for each, and
 * one result for each. What one region refuses takes nothing back in the other, and what is done is never sent again. Pure.
 */
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { TenantControlView } from "#db/console/control-views.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import type { ControlRequest } from "./control-request.ts";
import { boundedWords } from "./control-words.ts";

/** The command of one region. */
export interface RegionPart {
  readonly request: ControlRequest;
  /** The command's fields beside reason and ticket. */
  readonly body: object;
  /** Version of that region's row as it was shown. */
  readonly version: number;
}

export type RegionResult = { readonly region: Region; readonly request: ControlRequest } & (
  | { readonly at: "done"; readonly answer: CommandAnswer }
  | { readonly at: "failed"; readonly error: Error }
);

/** A tenant of the same slug as it was found in another region. */
export type Twin =
  | { readonly region: Region; readonly at: "found"; readonly view: TenantControlView }
  | { readonly region: Region; readonly at: "none" }
  /** The region did not answer: whether there is one is not known. */
  | { readonly region: Region; readonly at: "unknown" };

export type FoundTwin = Extract<Twin, { readonly at: "found" }>;

/** The command of the dialog's own region, then those of the chosen twins; the same fields, each with its own version. */
export function regionParts(
  request: ControlRequest,
  body: object,
  version: number,
  chosen: readonly FoundTwin[],
): RegionPart[] {
  const { target, verb } = request;
  return [
    { request, body, version },
    ...chosen.map(({ region, view }) => ({
      request: { target: { ...target, region, id: view.id, name: view.name }, verb },
      body,
      version: view.version,
    })),
  ];
}

/** Those that are not done yet. */
export function pendingParts(parts: readonly RegionPart[], results: readonly RegionResult[]): RegionPart[] {
  const done = doneRegions(results);
  return parts.filter(({ request }) => !done.includes(request.target.region));
}

export function doneRegions(results: readonly RegionResult[]): Region[] {
  return results.filter(({ at }) => at === "done").map(({ region }) => region);
}

/** The newest result of each region, in the order of the regions. */
export function mergeResults(
  former: readonly RegionResult[],
  fresh: readonly RegionResult[],
): RegionResult[] {
  const all = new Map([...former, ...fresh].map((result) => [result.region, result]));
  return REGIONS.flatMap((region) => all.get(region) ?? []);
}

/** What is done stays done; a refusal is over once the values are read again. */
export function withoutFailed(results: readonly RegionResult[]): RegionResult[] {
  return results.filter(({ at }) => at === "done");
}

/** Why a twin cannot be chosen, or null. */
export function refuseTwin({ view }: FoundTwin, verb: "pause" | "resume"): string | null {
  const permit = view.permit.pause;
  if (!permit?.allowed) return permit?.reason ?? "Your role does not include this there.";
  return verb === "resume" && view.pause.until === null ? "Not paused: there is nothing to resume." : null;
}

/** "Not paused. In flight 3, due 12, held 0." */
export function twinWords({ view }: FoundTwin): string {
  const state = view.pause.until === null ? "Not paused" : "Paused";
  return `${state}. In flight ${view.inFlight}, due ${boundedWords(view.due)}, held ${boundedWords(view.held)}.`;
}

/** The shortest of the longest pauses that the caller may give in these rows; undefined: no bound but everybody's. */
export function leastPauseMs(views: readonly Pick<TenantControlView, "permit">[]): number | undefined {
  const bounds = views.flatMap(({ permit }) => permit.pause?.maxPauseMs ?? []);
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

/** "Acme, US and EU". */
export function whereOfRegions(name: string, regions: readonly Region[]): string {
  const named = REGIONS.filter((region) => regions.includes(region)).map((region) => region.toUpperCase());
  return `${name}, ${named.join(" and ")}`;
}

/** "Done in US. Not done in EU: the dialog stays open for it." */
export function resultsWords(results: readonly RegionResult[]): string {
  const names = (at: RegionResult["at"]) =>
    results
      .filter((result) => result.at === at)
      .map(({ region }) => region.toUpperCase())
      .join(" and ");
  const [done, failed] = [names("done"), names("failed")];
  return [done === "" ? "" : `Done in ${done}.`, failed === "" ? "" : `Not done in ${failed}.`]
    .filter((part) => part !== "")
    .join(" ");
}
