/**
 * The edge of a new version of the replay policy. Its version begins at 0, the built-in one, so If-Match is read here; all
 * else is as with any control of a region: who may, the audit of who may not, a repeat that is done once.
 */
import "server-only";
import { setReplayPolicy } from "#db/console/replay/set-replay-policy.ts";
import { SluiceError } from "#domain/errors.ts";
import type { Action } from "#domain/permissions.ts";
import { type CommandRoute, command } from "./command.ts";

const VERSION = /^"(0|[1-9]\d{0,8})"$/;

/** What it needs, for the list of routes. The version stands in If-Match. */
export const REPLAY_POLICY: Pick<CommandRoute, "action" | "idField" | "versioned"> = {
  action: "policies",
  idField: null,
  versioned: true,
};

/** Answers POST /api/v1/replays/policy?region=. */
export function changePolicy(request: Request, { action }: { readonly action: Action }): Promise<Response> {
  const region = new URL(request.url).searchParams.get("region")?.toLowerCase() ?? "";
  const route: CommandRoute = {
    action,
    audit: "replay.policy",
    kind: "region",
    idField: null,
    versioned: false,
    run: async (context, input) =>
      setReplayPolicy(context, { ...(input as object), version: seenVersion(request) } as never),
  };
  return command(request, { params: Promise.resolve({ id: region }) }, route);
}

/** @throws SluiceError `precondition_required` */
function seenVersion(request: Request): number {
  const match = VERSION.exec(request.headers.get("if-match")?.trim() ?? "");
  if (match !== null) return Number(match[1]);
  throw new SluiceError(
    "precondition_required",
    'Send If-Match: "<version>" with the version that you saw, "0" for the built-in one.',
  );
}
