/** Everything that happened to a batch, newest first, as the product recorded it. */
import { StoredWords } from "#components/replays/stored-words.tsx";
import { actorWords } from "#components/ui/actor-words.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayDetail, ReplayEventView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import type { Seen } from "./seen.ts";

export function Events({ region, view }: Pick<Seen, "region" | "view">) {
  return (
    <Panel title="What happened" note={view.eventsMore ? "the newest 200" : "newest first"}>
      <EventList region={region} lanes={view.lanes} events={view.events} />
    </Panel>
  );
}

export interface EventListProps {
  region: Region;
  /** They name the destinations. */
  lanes: ReplayDetail["lanes"];
  events: readonly ReplayEventView[];
}

/** Lanes can stop in the same turn for the same reason: only all of an event tells it from another. */
export function EventList({ region, lanes, events }: EventListProps) {
  return (
    <ol className="grid gap-2 text-table">
      {events.map((event) => (
        <li key={JSON.stringify(event)} className="break-words">
          <Timestamp iso={event.at} named plain /> · {actorWords(event.actor)} ·{" "}
          <span className="font-medium">{event.kind.replaceAll("_", " ")}</span>
          {event.to === null || event.to === event.kind ? "" : ` to ${event.to.replaceAll("_", " ")}`}
          {event.detail === null ? null : (
            <span className="block text-muted">
              <StoredWords text={event.detail} region={region} lanes={lanes} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
