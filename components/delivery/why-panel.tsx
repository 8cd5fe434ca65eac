"use client";
/** "Why has this not been sent?": every blocker at this moment and the earliest time at which it can leave. */
import { CircleCheck, Clock, PauseCircle } from "lucide-react";
import { BLOCKER_WORDS } from "#components/deliveries/blocker-words.ts";
import { cx } from "#components/ui/cx.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { Blocker } from "#db/console/blockers.ts";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";

/** Only for a delivery that waits; the others have nothing to explain. */
export function WhyPanel({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  if (delivery.state !== "ready" && delivery.state !== "delayed") return null;
  const holding = delivery.blockers.filter(({ code }) => code !== "not_due");
  const held = holding.length > 0;
  const Icon = held ? PauseCircle : delivery.blockers.length > 0 ? Clock : CircleCheck;
  return (
    <section
      aria-label="Why it has not been sent"
      className={cx(
        "relative flex gap-3 overflow-hidden rounded-lg border border-line py-3 pr-4",
        held ? "bg-held-soft pl-6" : "bg-surface pl-4",
      )}
    >
      {held ? <span aria-hidden="true" className="stripes absolute inset-y-0 left-0 w-2.5" /> : null}
      <Icon
        aria-hidden="true"
        className={cx("mt-0.5 size-4.5 shrink-0", held ? "text-held" : "text-accent")}
      />
      <div className="min-w-0">
        {held ? (
          <ul className="grid gap-1">
            {holding.map((blocker) => (
              <HoldingLine key={blocker.code} blocker={blocker} asOf={asOf} />
            ))}
          </ul>
        ) : (
          <p className="font-semibold">{delivery.blockers.length > 0 ? "Planned" : "Nothing holds it"}</p>
        )}
        <Earliest delivery={delivery} asOf={asOf} />
      </div>
    </section>
  );
}

function HoldingLine({ blocker, asOf }: { blocker: Blocker; asOf: string }) {
  return (
    <li>
      <strong className="font-semibold">Held: {BLOCKER_WORDS[blocker.code].long}</strong>
      {blocker.until === null ? null : (
        <>
          {" until "}
          <Timestamp iso={blocker.until} form="exact" named /> ({relativeTo(blocker.until, asOf)})
        </>
      )}
      .{blocker.reason === null ? null : <span className="text-muted"> {causeText(blocker.reason)}.</span>}
    </li>
  );
}

function Earliest({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  if (delivery.earliestAt === null) {
    return <p className="text-muted">It leaves when what holds it has ended; no time is set for that.</p>;
  }
  if (delivery.earliestAt <= asOf) {
    return (
      <p className="text-muted">
        It was due {relativeTo(delivery.dueAt, asOf)}; the next free slot takes it.
      </p>
    );
  }
  return (
    <p className="text-muted">
      Earliest next attempt <Timestamp iso={delivery.earliestAt} form="exact" named />,{" "}
      {relativeTo(delivery.earliestAt, asOf)}.
    </p>
  );
}

function causeText(reason: string): string {
  return reason.replace(/^rate_limited/, "Rate-limited").replace(/\.$/, "");
}
