"use client";
/** What holds a destination back, each with its evidence: the gate, the breaker, the adaptive limit, failures in a row. */
import Link from "next/link";
import type { ReactNode } from "react";
import { plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationDetail, GateEvidence } from "#db/console/read-destination.ts";

const ADAPTIVE_CAUSES: Readonly<Record<string, string>> = {
  rate_limited: "a gate lowered it",
  timeout: "timeouts lowered it",
  breaker: "it began again behind a breaker",
};

export interface EvidencePanelProps {
  destination: DestinationDetail;
  asOf: string;
  stale: boolean;
}

export function EvidencePanel({ destination, asOf, stale }: EvidencePanelProps) {
  return (
    <Panel title="What holds it back" note="with the evidence that was written down" stale={stale}>
      <ul className="grid gap-3">
        <GateItem gate={destination.gate} asOf={asOf} />
        <BreakerItem destination={destination} asOf={asOf} />
        <AdaptiveItem destination={destination} />
        <FailuresItem destination={destination} asOf={asOf} />
      </ul>
    </Panel>
  );
}

function Item({ mark, children }: { mark: ReactNode; children: ReactNode }) {
  return (
    <li className="grid gap-0.5 sm:grid-cols-[12rem_minmax(0,1fr)] sm:gap-4">
      <span>{mark}</span>
      <div className="min-w-0 break-words text-muted">{children}</div>
    </li>
  );
}

function GateItem({ gate, asOf }: { gate: GateEvidence | null; asOf: string }) {
  if (gate === null) {
    return <Item mark={<StatusText tone="ok" label="Gate open" />}>It was never shut.</Item>;
  }
  const label = gate.shut ? "Gate shut" : gate.probing ? "Gate open, probing" : "Gate open";
  return (
    <Item mark={<StatusText tone={gate.shut || gate.probing ? "warn" : "ok"} label={label} />}>
      {gate.shut ? (
        <>
          Nothing leaves before <Timestamp iso={gate.until} form="exact" named /> (
          {relativeTo(gate.until, asOf)}); then one probe goes first.{" "}
        </>
      ) : (
        <>
          It opened <Timestamp iso={gate.until} />
          {gate.probing ? ", and one request at a time goes until one has an answer that is no limit" : ""}.{" "}
        </>
      )}
      <GateCause gate={gate} />
    </Item>
  );
}

function GateCause({ gate }: { gate: GateEvidence }) {
  return (
    <>
      {gate.setAt === null ? null : (
        <>
          Set <Timestamp iso={gate.setAt} /> by an answer of {gate.status ?? "unknown status"}
          {gate.deliveryId === null ? null : (
            <>
              {" to "}
              <Link
                href={`/deliveries/${gate.deliveryId}`}
                prefetch={false}
                className="underline underline-offset-4"
              >
                this delivery
              </Link>
            </>
          )}
          .{" "}
        </>
      )}
      {gate.retryAfterRaw === null ? (
        "It came without Retry-After: the backoff of the gate decided."
      ) : (
        <>
          Retry-After as received:{" "}
          <code className="break-all rounded-sm border border-line bg-surface px-1 font-mono">
            {gate.retryAfterRaw}
          </code>
          {gate.why === "rate_limited" ? ", which could not be used" : ""}.
        </>
      )}{" "}
      {gate.consecutive > 1 ? `${plural(gate.consecutive, "gate")} in a row.` : ""}
    </>
  );
}

function BreakerItem({ destination: { breaker }, asOf }: { destination: DestinationDetail; asOf: string }) {
  if (!breaker.open) {
    return (
      <Item mark={<StatusText tone="ok" label="Breaker closed" />}>
        {breaker.downInRow === 0
          ? "Requests are answered."
          : `${plural(breaker.downInRow, "request")} in a row had no answer or a 5xx.`}
      </Item>
    );
  }
  return (
    <Item mark={<StatusText tone="danger" label="Breaker open" />}>
      It is judged down: {plural(breaker.downInRow, "request")} in a row failed
      {breaker.why === null ? "" : `, the last with ${breaker.why}`}.
      {breaker.openedAt === null ? null : (
        <>
          {" "}
          Open since <Timestamp iso={breaker.openedAt} /> ({relativeTo(breaker.openedAt, asOf)}).
        </>
      )}
      {breaker.until === null ? null : (
        <>
          {" "}
          Next single request: <Timestamp iso={breaker.until} /> ({relativeTo(breaker.until, asOf)}).
        </>
      )}
    </Item>
  );
}

function AdaptiveItem({ destination: { adaptive, concurrency } }: { destination: DestinationDetail }) {
  if (adaptive.limit === null || adaptive.limit >= concurrency.desired) {
    return (
      <Item mark={<StatusText tone="ok" label="No adaptive limit" />}>
        Its concurrency limit of {concurrency.desired}
        {concurrency.limit === null ? ", inherited from the region," : ""} alone bounds it.
      </Item>
    );
  }
  return (
    <Item
      mark={<StatusText tone="warn" label={adaptive.pinned ? "Adaptive limit pinned" : "Adaptive limit"} />}
    >
      At most {adaptive.limit} of {concurrency.desired} in flight
      {adaptive.pinned ? ", pinned by staff" : `: ${ADAPTIVE_CAUSES[adaptive.why ?? ""] ?? "found"}`}.
      {adaptive.safeLimit === null ? "" : ` Last safe value ${adaptive.safeLimit}.`}
      {adaptive.changedAt === null ? null : (
        <>
          {" "}
          Changed <Timestamp iso={adaptive.changedAt} />.
        </>
      )}
    </Item>
  );
}

function FailuresItem({ destination, asOf }: { destination: DestinationDetail; asOf: string }) {
  const { failuresSinceSuccess, failingSince } = destination;
  if (failuresSinceSuccess === 0) {
    return <Item mark={<StatusText tone="ok" label="No failures in a row" />}>A 429 counts as none.</Item>;
  }
  return (
    <Item
      mark={
        <StatusText
          tone={destination.failing ? "danger" : "warn"}
          label={plural(failuresSinceSuccess, "failure")}
        />
      }
    >
      In a row without a success
      {failingSince === null ? null : (
        <>
          {" since "}
          <Timestamp iso={failingSince} /> ({relativeTo(failingSince, asOf)})
        </>
      )}
      . After 24 h without one, and at least 20 failures, it is disabled by itself; what waits is held then.
    </Item>
  );
}
