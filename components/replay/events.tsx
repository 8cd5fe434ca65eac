/** Everything that happened to a batch, newest first, as the product recorded it. */
import { Panel } from "#components/ui/panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";

/** Lanes can stop in the same turn for the same reason: only all of an event tells it from another. */
export function Events({ view }: { view: ReplayDetail }) {
  return (
    <Panel title="What happened" note={view.eventsMore ? "the newest 200" : "newest first"}>
      <ol className="grid gap-2 text-table">
        {view.events.map((event) => (
          <li key={JSON.stringify(event)} className="break-words">
            <Timestamp iso={event.at} named plain /> · {event.actor} ·{" "}
            <span className="font-medium">{event.kind.replaceAll("_", " ")}</span>
            {event.to === null || event.to === event.kind ? "" : ` to ${event.to.replaceAll("_", " ")}`}
            {event.detail === null ? null : <span className="block text-muted">{event.detail}</span>}
          </li>
        ))}
      </ol>
    </Panel>
  );
}
