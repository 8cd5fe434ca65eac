/** The whole life of a delivery in order: accepted, each attempt, and where it is now. */
import { formatBytes, formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { reasonWords } from "#components/ui/words.ts";
import type { Annotation } from "#db/console/read-annotations.ts";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import type { DeliveryAnswer, DeliveryDetail } from "#db/console/read-delivery.ts";
import { AnnotationItem } from "./annotation-item.tsx";
import { AttemptItem } from "./attempt-item.tsx";
import { TimelineItem } from "./timeline-item.tsx";

/** Oldest first, so that it reads as a story. */
export function Timeline({ answer, stale }: { answer: DeliveryAnswer; stale: boolean }) {
  const { delivery, attempts, attemptsTruncated } = answer;
  return (
    <Panel
      title="Timeline"
      stale={stale}
      note={
        attemptsTruncated
          ? `the latest ${attempts.length} of ${delivery.attempts} attempts`
          : countText(delivery)
      }
    >
      <ol className="mt-1">
        <TimelineItem tone="neutral" title="Accepted" at={delivery.createdAt}>
          <p className="text-muted text-table">
            committed with the business transaction · {formatBytes(delivery.payload.sizeBytes)}
            {delivery.payload.contentType === null ? "" : `, ${delivery.payload.contentType}`} · first due{" "}
            <Timestamp iso={delivery.firstDueAt} form="exact" />
          </p>
        </TimelineItem>
        {entriesOf(answer).map((entry) =>
          "attempt" in entry ? (
            <AttemptItem key={entry.attempt.id} attempt={entry.attempt} />
          ) : (
            <AnnotationItem
              key={entry.annotation.auditId}
              annotation={entry.annotation}
              region={delivery.region}
            />
          ),
        )}
        <Now delivery={delivery} asOf={answer.asOf} />
      </ol>
    </Panel>
  );
}

/** "2 attempts, 1 of 8 failures that end it, 1 throttle"; of one that was replayed also which cycle it is in. */
function countText({ attempts, failures, throttles, cycle, next }: DeliveryDetail): string {
  const most = next?.policy?.maxFailures;
  const failed =
    most === undefined
      ? plural(failures, "failure")
      : `${formatCount(failures)} of ${plural(most, "failure")} that end it`;
  const again = cycle > 1 ? `; cycle ${formatCount(cycle)}, for it was replayed` : "";
  return `${plural(attempts, "attempt")}, ${failed}, ${plural(throttles, "throttle")}${again}`;
}

type Entry = { attempt: AttemptEntry; at: string } | { annotation: Annotation; at: string };

/** Attempts and what was done by people, in the order in which they happened. */
function entriesOf({ attempts, annotations }: DeliveryAnswer): Entry[] {
  const entries: Entry[] = [
    ...attempts.map((attempt) => ({ attempt, at: attempt.startedAt })),
    ...annotations.map((annotation) => ({ annotation, at: annotation.at })),
  ];
  return entries.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** The last entry: what the delivery waits for, or how it ended. */
function Now({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  switch (delivery.state) {
    case "delivered":
      return <TimelineItem tone="ok" title="Delivered" at={delivery.finishedAt} />;
    case "dead":
      return (
        <TimelineItem
          tone="danger"
          title={`Dead: ${reasonWords(delivery.reason ?? "")}`}
          at={delivery.finishedAt}
        >
          <p className="text-muted text-table">
            It waits for a person. Nothing retries it by itself. {delivery.lastDetail}
          </p>
        </TimelineItem>
      );
    case "cancelled":
      return (
        <TimelineItem
          tone="neutral"
          title={`Cancelled: ${reasonWords(delivery.reason ?? "")}`}
          at={delivery.finishedAt}
        />
      );
    case "leased":
      return (
        <TimelineItem
          tone="accent"
          title={`Attempt ${delivery.attempts + 1} is in flight`}
          at={delivery.leasedAt}
        >
          <p className="text-muted text-table">
            claimed by {delivery.leasedBy}
            {delivery.leaseUntil === null ? null : (
              <>
                {" · lease ends "}
                <Timestamp iso={delivery.leaseUntil} form="clock" named /> (
                {relativeTo(delivery.leaseUntil, asOf)})
              </>
            )}
          </p>
        </TimelineItem>
      );
    default:
      return (
        <TimelineItem
          tone={delivery.blockers.length > 0 ? "held" : "unknown"}
          title={`Attempt ${delivery.attempts + 1} ${delivery.dueAt > asOf ? "is planned" : "is due"}`}
          at={delivery.dueAt}
          aside={relativeTo(delivery.dueAt, asOf)}
        />
      );
  }
}
