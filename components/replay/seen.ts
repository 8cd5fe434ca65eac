/** What every part of a batch's page is given. Types only. */
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";

export interface Seen {
  region: Region;
  view: ReplayDetail;
  /** Database time of the view, UTC. */
  asOf: string;
}
