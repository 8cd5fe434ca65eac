"use client";
/**
 * Why a tenant's deliveries wait, in sentences: its pause, and its destinations that give trouble, worst first, each with its last
 * answer and a link. It names what is written down; it must never guess.
 */
import Link from "next/link";
import type { ReactNode } from "react";
import { useDestinations } from "#components/queries/tenants.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";
import type { TenantDetail } from "#db/console/read-tenant.ts";
import type { Region } from "#domain/region.ts";
import { causeOf, hasTrouble, lastAnswerText, ownCause } from "./cause-words.ts";

/** More than this is a matter for the list. */
const MAX_NAMED = 3;

export interface TenantCausesProps {
  tenant: TenantDetail;
  asOf: string;
  stale: boolean;
  /** Its first attempts are later than they should be. */
  late: boolean;
  onAll: () => void;
}

export function TenantCauses({ tenant, asOf, stale, late, onAll }: TenantCausesProps) {
  const own = ownCause(tenant, asOf);
  const troubled = hasTrouble(tenant);
  return (
    <Panel title="Why" note="what holds its deliveries, worst first" stale={stale}>
      <ul className="grid gap-2 text-body">
        {own === null ? null : <li>{own}</li>}
        {troubled ? <Troubled region={tenant.region} tenant={tenant.id} asOf={asOf} onAll={onAll} /> : null}
        {own === null && !troubled ? (
          <li className="text-muted">
            Nothing holds it: no pause, no shut gate, no open breaker, no destination that fails
            {late ? ". What is late waits for slots or for its limits" : ""}.
          </li>
        ) : null}
      </ul>
    </Panel>
  );
}

interface TroubledProps {
  region: Region;
  /** `ten_...` */
  tenant: string;
  asOf: string;
  onAll: () => void;
}

/** Asked for only when the tenant's own numbers say that there is something. */
function Troubled({ region, tenant, asOf, onAll }: TroubledProps) {
  const query = useDestinations({ region, tenant });
  if (query.data === undefined)
    return (
      <li>
        {query.error === null ? (
          <Skeleton className="h-5 w-full max-w-xl" />
        ) : (
          "Its destinations could not be read."
        )}
      </li>
    );
  if (query.data.status !== "ok") return <li>Its destinations are not known: the region does not answer.</li>;
  const found = query.data.data.rows.flatMap((row) => {
    const cause = causeOf(row);
    return cause === null ? [] : [{ row, cause }];
  });
  const more = found.length - MAX_NAMED;
  return (
    <>
      {found.slice(0, MAX_NAMED).map(({ row, cause }) => (
        <Cause key={row.id} region={region} row={row} asOf={asOf}>
          {cause}
        </Cause>
      ))}
      {more > 0 ? (
        <li>
          <button
            type="button"
            onClick={onAll}
            className="inline-flex min-h-6 items-center underline underline-offset-4 max-md:min-h-11"
          >
            and {plural(more, "more destination")}
            {query.data.data.next === null ? "" : " at least"}
          </button>
        </li>
      ) : null}
    </>
  );
}

function Cause({
  region,
  row,
  asOf,
  children,
}: {
  region: Region;
  row: DestinationHealth;
  asOf: string;
  children: ReactNode;
}) {
  const answer = lastAnswerText(row.last);
  return (
    <li className="break-words">
      <Link
        href={`/destinations/${row.id}?region=${region}`}
        prefetch={false}
        className="font-medium underline underline-offset-4"
      >
        {row.name}
      </Link>{" "}
      <span className="text-faint">({row.host})</span> {children}
      {row.stateUntil === null ? null : (
        <>
          {" "}
          until <Timestamp iso={row.stateUntil} named /> ({relativeTo(row.stateUntil, asOf)})
        </>
      )}
      .{" "}
      {answer === null || row.last === null ? null : (
        <span className="text-muted">
          Last answer: {answer}, {relativeTo(row.last.at, asOf)}
          {row.retryAfter === null || row.state !== "rate_limited" ? null : (
            <>
              , Retry-After <code className="font-mono">{row.retryAfter.raw.slice(0, 40)}</code>
            </>
          )}
          .{" "}
        </span>
      )}
      {row.deadLetters.count > 0 ? (
        <Link
          href={`/dead-letters?region=${region}&destination=${row.id}`}
          prefetch={false}
          className="text-muted underline underline-offset-4"
        >
          {formatCount(row.deadLetters.count)} dead letters
        </Link>
      ) : null}
    </li>
  );
}
