"use client";
/** "Why has this not been sent?": every blocker at this moment and the earliest time at which it can leave. */
import { CircleCheck, PauseCircle } from "lucide-react";
import { BLOCKER_WORDS, clearAt } from "#components/deliveries/blocker-words.ts";
import { cx } from "#components/ui/cx.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";

/** Only for a delivery that waits; the others have nothing to explain. */
export function WhyPanel({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  if (delivery.state !== "ready" && delivery.state !== "delayed") return null;
  const held = delivery.blockers.length > 0;
  const Icon = held ? PauseCircle : CircleCheck;
  return (
    <section
      aria-label="Why it has not been sent"
      className={cx(
        "relative flex gap-3 overflow-hidden rounded-lg border border-line py-3 pr-4",
        held ? "bg-held-soft pl-6" : "bg-surface pl-4",
      )}
    >
      {held ? <span aria-hidden="true" className="stripes absolute inset-y-0 left-0 w-2.5" /> : null}
      <Icon aria-hidden="true" className={cx("mt-0.5 size-4.5 shrink-0", held ? "text-held" : "text-ok")} />
      <div className="min-w-0">
        {held ? <Held delivery={delivery} asOf={asOf} /> : <Free delivery={delivery} asOf={asOf} />}
      </div>
    </section>
  );
}

function Free({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  if (delivery.dueAt > asOf) {
    return (
      <p>
        <strong className="font-semibold">Next attempt</strong>{" "}
        <Timestamp iso={delivery.dueAt} form="exact" named />{" "}
        <span className="text-muted">
          ({relativeTo(delivery.dueAt, asOf)}). Nothing else stands in the way.
        </span>
      </p>
    );
  }
  return (
    <p>
      <strong className="font-semibold">Nothing holds it.</strong>{" "}
      <span className="text-muted">
        It has been due since {relativeTo(delivery.dueAt, asOf)} and the next free slot takes it.
      </span>
    </p>
  );
}

function Held({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  const clear = clearAt(delivery.blockers);
  const earliest = clear !== null && clear < delivery.dueAt ? delivery.dueAt : clear;
  return (
    <>
      <ul className="grid gap-1">
        {delivery.blockers.map((blocker) => (
          <li key={blocker.code}>
            <strong className="font-semibold">Held: {BLOCKER_WORDS[blocker.code].long}</strong>
            {blocker.until === null ? null : (
              <>
                {" until "}
                <Timestamp iso={blocker.until} form="exact" named /> ({relativeTo(blocker.until, asOf)})
              </>
            )}
            .
            {blocker.reason === null ? null : (
              <span className="text-muted"> Cause: {causeText(blocker.reason)}.</span>
            )}
          </li>
        ))}
      </ul>
      <p className="mt-1 text-muted">
        {earliest === null ? (
          "It leaves when what holds it has ended; no time is set for that."
        ) : (
          <>
            Earliest next attempt <Timestamp iso={earliest} form="exact" named />,{" "}
            {relativeTo(earliest, asOf)}.
          </>
        )}
      </p>
    </>
  );
}

function causeText(reason: string): string {
  return reason.replace(/^rate_limited/, "rate-limited").replace(/\.$/, "");
}
