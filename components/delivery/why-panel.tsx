"use client";
/** "Why has this not been sent?": every blocker at this moment in its order, and the earliest time at which it can leave. */
import { CircleCheck, CircleX, Clock, PauseCircle, Send } from "lucide-react";
import type { ReactNode } from "react";
import { BLOCKER_WORDS, holdWord } from "#components/deliveries/blocker-words.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { cx } from "#components/ui/cx.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { reasonWords } from "#components/ui/words.ts";
import type { Blocker } from "#db/console/blockers.ts";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";
import type { BlockerName } from "#domain/held-reason.ts";

/** Nothing for a delivery that was sent. */
export function WhyPanel({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  if (delivery.state === "delivered") return null;
  if (delivery.state === "dead" || delivery.state === "cancelled") return <Ended delivery={delivery} />;
  if (delivery.state === "leased") return <Leased delivery={delivery} asOf={asOf} />;
  const holding = delivery.blockers.filter(({ code }) => code !== "not_due");
  const blocked = holding.length > 0;
  const held = holding.some(({ code }) => holdWord(code) === "Held");
  return (
    <Frame
      held={held}
      icon={held ? PauseCircle : delivery.blockers.length > 0 ? Clock : CircleCheck}
      tone={held ? "text-held" : "text-accent"}
    >
      {blocked ? (
        <ol aria-label="What holds it, the strongest first" className="grid gap-1">
          {holding.map((blocker) => (
            <HoldingLine key={blocker.code} blocker={blocker} asOf={asOf} />
          ))}
        </ol>
      ) : null}
      <Due delivery={delivery} asOf={asOf} blocked={blocked} />
      <Earliest delivery={delivery} asOf={asOf} />
    </Frame>
  );
}

function Frame({
  held,
  icon: Icon,
  tone,
  children,
}: {
  held: boolean;
  icon: typeof Clock;
  tone: string;
  children: ReactNode;
}) {
  return (
    <section
      aria-label="Why it has not been sent"
      className={cx(
        "relative flex gap-3 overflow-hidden rounded-lg border border-line py-3 pr-4",
        held ? "bg-held-soft pl-6" : "bg-surface pl-4",
      )}
    >
      {held ? <span aria-hidden="true" className="stripes absolute inset-y-0 left-0 w-2.5" /> : null}
      <Icon aria-hidden="true" className={cx("mt-0.5 size-4.5 shrink-0", tone)} />
      <div className="min-w-0">{children}</div>
    </section>
  );
}

function HoldingLine({ blocker, asOf }: { blocker: Blocker; asOf: string }) {
  return (
    <li>
      <strong className="font-semibold">
        {holdWord(blocker.code)}: {BLOCKER_WORDS[blocker.code].long}
      </strong>
      {blocker.until === null ? null : (
        <>
          {" until "}
          <Timestamp iso={blocker.until} form="exact" named /> ({relativeTo(blocker.until, asOf)})
        </>
      )}
      .{blocker.reason === null ? null : <span className="text-muted"> {causeText(blocker.reason)}.</span>}
      {blocker.since === null ? null : (
        <span className="text-muted">
          {" Since "}
          <Timestamp iso={blocker.since} named />
          {blocker.by === null ? "" : `, by ${actorWords(blocker.by)}`}.
        </span>
      )}
    </li>
  );
}

/** Whose wish the due time is: the application's, or the wait after an attempt. */
function Due({ delivery, asOf, blocked }: { delivery: DeliveryDetail; asOf: string; blocked: boolean }) {
  const planned = delivery.dueAt > asOf;
  if (!planned && blocked) return null;
  if (!planned) return <p className="font-semibold">Nothing holds it</p>;
  const text =
    delivery.attempts === 0
      ? "Planned for later by the application that wrote it"
      : `Waits out its delay after attempt ${delivery.attempts}`;
  return (
    <p className={blocked ? "text-muted" : "font-semibold"}>
      {text}, due <Timestamp iso={delivery.dueAt} form="exact" named />.
    </p>
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
        {delivery.lane === "first" ? null : " First attempts go before it."}
      </p>
    );
  }
  return (
    <p className="text-muted">
      Earliest next attempt <Timestamp iso={delivery.earliestAt} form="exact" named />,{" "}
      {relativeTo(delivery.earliestAt, asOf)}.
      {delivery.blockers.some(({ code }) => PROBED.has(code))
        ? " One request goes first as a probe; the others of the destination follow when it succeeds."
        : null}
    </p>
  );
}

/** Behind these a single request asks first, whichever it is. */
const PROBED: ReadonlySet<BlockerName> = new Set(["gate", "probe", "breaker"]);

/** In flight, or under a lease that has ended and that nobody has taken back yet. */
function Leased({ delivery, asOf }: { delivery: DeliveryDetail; asOf: string }) {
  const [blocker] = delivery.blockers;
  if (blocker === undefined) return null;
  const lost = blocker.code === "lease_expired";
  return (
    <Frame held={false} icon={lost ? Clock : Send} tone={lost ? "text-warn" : "text-accent"}>
      <p className="font-semibold">{BLOCKER_WORDS[blocker.code].long}</p>
      <p className="text-muted">
        Claimed by {delivery.leasedBy}
        {delivery.leasedAt === null ? null : (
          <>
            {" at "}
            <Timestamp iso={delivery.leasedAt} form="clock" named />
          </>
        )}
        {delivery.leaseUntil === null ? null : (
          <>
            {lost ? "; the lease ended " : "; the lease ends "}
            <Timestamp iso={delivery.leaseUntil} form="clock" named /> (
            {relativeTo(delivery.leaseUntil, asOf)})
          </>
        )}
        .
        {lost
          ? " A worker takes it back within seconds and it is sent again with the same key: the receiver may have it already."
          : " Without an outcome until then it is taken back and sent again with the same key."}
      </p>
    </Frame>
  );
}

function Ended({ delivery }: { delivery: DeliveryDetail }) {
  const dead = delivery.state === "dead";
  return (
    <Frame held={false} icon={CircleX} tone={dead ? "text-danger" : "text-muted"}>
      <p className="font-semibold">
        It is {dead ? "a dead letter" : "cancelled"}: {reasonWords(delivery.reason ?? "")}
      </p>
      <p className="text-muted">
        {dead
          ? "Nothing retries it by itself. A person brings it back in a reviewed batch, or says that it will not be replayed."
          : "It will not be sent. Its key stays known, so a repeat is still recognised."}
      </p>
    </Frame>
  );
}

function causeText(reason: string): string {
  return reason.replace(/^rate_limited/, "Rate-limited").replace(/\.$/, "");
}
