"use client";
/**
 * How far a drain has come: leases held, when the last one ends, and whether it is safe to switch versions. "Safe" is only
 * ever the API's own count behind a barrier, and it is unsafe while nothing is known.
 */
import { useState } from "react";
import { ProblemError } from "#components/queries/fetch-json.ts";
import { Button } from "#components/ui/button.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DrainStatus } from "#db/console/commands/drain-status.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { drainVerdict } from "./drain-words.ts";
import { useDrain } from "./use-drain.ts";

/** Counts until the region is drained. An old count is never shown as the present one. */
export function DrainPanel({ region }: { region: Region }) {
  const { data, error, refetch } = useDrain(region);
  /** Leases when this panel first counted: the left end of "7 -> 0". */
  const [first, setFirst] = useState<number | null>(null);
  if (data !== undefined && first === null) setFirst(data.leases);
  if (error !== null) {
    return (
      <div role="alert" className="grid gap-1 rounded-md border border-line px-3 py-2.5 text-table">
        <p>
          <StatusText tone="unknown" label="The leases cannot be counted now" />
        </p>
        <p className="text-muted">
          {error instanceof ProblemError ? error.problem.detail : "The console does not answer."} Not safe to
          switch version until they are counted.
        </p>
        <p>
          <Button onClick={() => void refetch()}>Try again</Button>
        </p>
      </div>
    );
  }
  if (data === undefined) {
    return <p className="rounded-md border border-line px-3 py-2.5 text-table">Counting leases…</p>;
  }
  return <Counted status={data} first={first ?? data.leases} />;
}

function Counted({ status, first }: { status: DrainStatus; first: number }) {
  const { leases, expiredLeases, lastLeaseUntil, asOf } = status;
  const verdict = drainVerdict(status);
  const leftMs = lastLeaseUntil === null ? 0 : Date.parse(lastLeaseUntil) - Date.parse(asOf);
  return (
    <section aria-label="Drain" className="grid gap-2 rounded-md border border-line px-3 py-2.5 text-table">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span>
          Leases held:{" "}
          <strong className="font-semibold">{first === leases ? leases : `${first} → ${leases}`}</strong>
          {expiredLeases === 0 ? null : `, of which ${expiredLeases} have ended and wait to be taken back`}
        </span>
        <span className="text-faint">
          Counted at <Timestamp iso={asOf} form="clock" named plain />
        </span>
      </p>
      {lastLeaseUntil === null ? null : (
        <p>
          {leftMs > 0 ? "Last lease expires" : "Last lease expired"}{" "}
          <Timestamp iso={lastLeaseUntil} form="clock" named plain />
          {leftMs > 0 ? `, in ${formatAge(leftMs)}` : ""}.
        </p>
      )}
      <p role="status">
        Safe to switch version: <StatusText tone={verdict.tone} label={verdict.word} />
        {verdict.why === null ? null : <span className="block text-muted">{verdict.why}</span>}
      </p>
    </section>
  );
}
