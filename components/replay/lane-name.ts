/** What a lane is called: its destination, or the end of the id of one that has no name any more. Pure. */
import { destinationEnd } from "#components/replays/stored-text.ts";
import type { ReplayLaneView } from "#db/console/replay/replay-views.ts";

export function laneName(lane: Pick<ReplayLaneView, "destinationId" | "destinationName">): string {
  return lane.destinationName ?? destinationEnd(lane.destinationId);
}
