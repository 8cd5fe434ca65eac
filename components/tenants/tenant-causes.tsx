"use client";
/**
 * Why a tenant's deliveries wait, in sentences under its name: what was decided about it, and its destinations that give trouble,
 * worst first, each with its last answer and a link. It names what is written down; it must never guess.
 */
import Link from "next/link";
import { useDestinations } from "#components/queries/tenants.ts";
import { cx } from "#components/ui/cx.ts";
import { plural } from "#components/ui/format.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";
import type { TenantAnswer, TenantDetail } from "#db/console/read-tenant.ts";
import {
  behindText,
  type Cause,
  causeOf,
  hasTrouble,
  isLate,
  lastAnswerText,
  ownCauses,
} from "./cause-words.ts";

/** More than this is a matter for the list. */
const MAX_NAMED = 3;
/** Destinations that are asked for: those in trouble come first. */
const MAX_READ = "20";

export interface TenantCausesProps {
  answer: TenantAnswer;
  asOf: string;
  stale: boolean;
  onAll: () => void;
}

export function TenantCauses({ answer, asOf, stale, onAll }: TenantCausesProps) {
  const { tenant } = answer;
  const own = ownCauses(tenant, asOf);
  const troubled = tenant.deletedAt === null && hasTrouble(tenant);
  const nothing = own.length === 0 && !troubled;
  return (
    <section
      aria-label="Why its deliveries wait"
      className={cx(
        "rounded-lg border bg-surface px-4 py-3",
        stale ? "border-dashed border-line-strong" : "border-line",
      )}
    >
      {nothing ? (
        <Nothing tenant={tenant} late={isLate(answer)} />
      ) : (
        <ul className="grid gap-2">
          {own.map((cause) => (
            <li key={cause}>{cause}</li>
          ))}
          {troubled ? <Troubled tenant={tenant} asOf={asOf} onAll={onAll} /> : null}
        </ul>
      )}
    </section>
  );
}

function Nothing({ tenant: { region, slug }, late }: { tenant: TenantDetail; late: boolean }) {
  return (
    <p className="text-muted">
      Nothing holds it: no pause, no shut gate, no open breaker, no destination that fails.
      {late ? (
        <>
          {" "}
          Yet it is late. The page of a delivery says what that one waits for:{" "}
          <Link
            href={`/deliveries?region=${region}&tenant=${slug}&state=ready`}
            prefetch={false}
            className="underline underline-offset-4"
          >
            those that are ready
          </Link>
          .
        </>
      ) : null}
    </p>
  );
}

interface TroubledProps {
  tenant: TenantDetail;
  asOf: string;
  onAll: () => void;
}

/** Asked for only when the tenant's own numbers say that there is something. */
function Troubled({ tenant, asOf, onAll }: TroubledProps) {
  const { region } = tenant;
  const query = useDestinations({ region, tenant: tenant.id, limit: MAX_READ });
  // What the page before showed is another tenant's.
  const answer = query.isPlaceholderData ? undefined : query.data;
  if (answer === undefined)
    return (
      <li>
        {query.error === null ? (
          <Skeleton className="h-5 w-full max-w-xl" />
        ) : (
          "Its destinations could not be read."
        )}
      </li>
    );
  if (answer.status !== "ok") return <li>Its destinations are not known: the region does not answer.</li>;
  const { rows, next } = answer.data;
  const found = rows.flatMap((row) => {
    const cause = causeOf(row, answer.asOf);
    return cause === null ? [] : [{ row, cause }];
  });
  // All that were read give trouble: there may be others.
  const atLeast = next !== null && found.length === rows.length;
  const behind = behindText(tenant, found.length === 1 && !atLeast);
  const more = found.length - MAX_NAMED;
  return (
    <>
      {found.slice(0, MAX_NAMED).map(({ row, cause }) => (
        <CauseItem key={row.id} row={row} cause={cause} region={region} asOf={asOf} />
      ))}
      {more > 0 ? (
        <li>
          <button
            type="button"
            onClick={onAll}
            className="inline-flex min-h-6 items-center underline underline-offset-4 max-md:min-h-11"
          >
            and {atLeast ? "at least " : ""}
            {plural(more, "more destination")}
          </button>
        </li>
      ) : null}
      {behind === null ? null : <li>{behind}</li>}
    </>
  );
}

interface CauseItemProps {
  row: DestinationHealth;
  cause: Cause;
  region: TenantDetail["region"];
  asOf: string;
}

function CauseItem({ row, cause, region, asOf }: CauseItemProps) {
  const { since, next } = cause;
  return (
    <li className="break-words">
      <Link
        href={`/destinations/${row.id}?region=${region}`}
        prefetch={false}
        className="font-medium underline underline-offset-4"
      >
        {row.name}
      </Link>{" "}
      <span className="text-faint">({row.host})</span> {cause.text}
      {since === null ? null : (
        <>
          {" since "}
          <Timestamp iso={since} named />
        </>
      )}
      {next === null ? null : (
        <>
          {next.words.startsWith(";") ? "" : " "}
          {next.words} <Timestamp iso={next.at} named /> ({relativeTo(next.at, asOf)})
        </>
      )}
      {cause.end}. <LastAnswer row={row} asOf={asOf} />
      {row.deadLetters.count > 0 ? (
        <Link
          href={`/dead-letters?region=${region}&destination=${row.id}`}
          prefetch={false}
          className="text-muted underline underline-offset-4"
        >
          Its dead letters
        </Link>
      ) : null}
    </li>
  );
}

function LastAnswer({ row: { last, retryAfter, state }, asOf }: { row: DestinationHealth; asOf: string }) {
  const text = lastAnswerText(last);
  if (last === null || text === null) return null;
  return (
    <span className="text-muted">
      Last answer: {text}, {relativeTo(last.at, asOf)}
      {retryAfter === null || state !== "rate_limited" ? null : (
        <>
          , Retry-After <code className="font-mono">{retryAfter.raw.slice(0, 40)}</code>
        </>
      )}
      .{" "}
    </span>
  );
}
