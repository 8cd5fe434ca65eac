"use client";
/** Is this tenant late, and why: ages, what is held apart, limits, and how both went over a range. */
import { TenantCharts } from "#components/charts/tenant-charts.tsx";
import { HELD_WORDS } from "#components/overview/held-words.ts";
import { useRange } from "#components/shell/time-range.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { TenantAnswer } from "#db/console/read-tenant.ts";
import { Age, ageTone, BoundedFigure, Fact, Facts } from "./figures.tsx";
import { limitText } from "./limit-words.ts";
import type { DetailView } from "./use-detail.ts";

export interface TenantOverviewProps {
  answer: TenantAnswer;
  asOf: string;
  stale: boolean;
  view: DetailView<string>;
}

export function TenantOverview({ answer, asOf, stale, view }: TenantOverviewProps) {
  const { tenant } = answer;
  const [range] = useRange();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Panel
        title="Now"
        note={
          <>
            live numbers as of <Timestamp iso={asOf} form="clock" named />
          </>
        }
        stale={stale}
      >
        <Facts>
          <LateFacts answer={answer} />
          <HeldFact answer={answer} />
          <StandingFacts answer={answer} asOf={asOf} />
        </Facts>
      </Panel>
      <TenantCharts region={view.region} tenantId={tenant.id} range={range} />
    </div>
  );
}

function LateFacts({ answer: { tenant, objectives, dueLag } }: { answer: TenantAnswer }) {
  const objective = objectives[tenant.firstAttemptClass ?? "routine"];
  const { firstAttemptWarnMs, firstAttemptTargetMs } = objective;
  return (
    <>
      <Fact
        label="First attempt, oldest"
        note={tenant.firstAttemptClass === null ? "none waits" : `${tenant.firstAttemptClass} class`}
      >
        <Age
          ms={tenant.firstAttemptMs}
          tone={ageTone(tenant.firstAttemptMs, firstAttemptWarnMs, firstAttemptTargetMs)}
        />
      </Fact>
      <Fact label="Due, unclaimed, oldest" note={`${formatCount(tenant.due.count)} due`}>
        <Age ms={tenant.due.oldestMs} tone={ageTone(tenant.due.oldestMs, dueLag.warnMs, dueLag.pageMs)} />
      </Fact>
      <Fact label="Due behind gates or breakers" note={plural(tenant.gates, "shut gate")}>
        <BoundedFigure count={tenant.gated} limit={Number.POSITIVE_INFINITY} />
      </Fact>
    </>
  );
}

/** Held work stands apart: it is not late, it waits for people. */
function HeldFact({ answer: { tenant } }: { answer: TenantAnswer }) {
  const { held } = tenant;
  if (held.count === 0) {
    return (
      <Fact label="Held apart" note="no decision of people holds work">
        <span className="text-faint">0</span>
      </Fact>
    );
  }
  return (
    <Fact label="Held apart" note={`${HELD_WORDS[held.why ?? ""] ?? "held"}; not counted as late`}>
      <span className="stripes rounded-sm px-1.5 text-held">
        {formatCount(held.count)}, oldest <Age ms={held.oldestMs} />
      </span>
    </Fact>
  );
}

function StandingFacts({ answer, asOf }: { answer: TenantAnswer; asOf: string }) {
  const { tenant, countLimit } = answer;
  const list = `region=${tenant.region}&tenant=${tenant.slug}`;
  return (
    <>
      <Fact label="Ready and delayed" note="planned for later ones included">
        {formatCount(tenant.ready)} and {formatCount(tenant.delayed)}
      </Fact>
      <Fact label="In flight" note={limitText(tenant.concurrency)}>
        {formatCount(tenant.inFlight)} of {formatCount(tenant.concurrency.effective)}
      </Fact>
      <Fact
        label="Dead letters"
        note={
          tenant.deadLetters.count === 0 ? (
            "none waits for a person"
          ) : (
            <>
              oldest <Age ms={tenant.deadLetters.oldestMs} />
            </>
          )
        }
      >
        <BoundedFigure count={tenant.deadLetters.count} limit={countLimit} href={`/dead-letters?${list}`} />
      </Fact>
      <Fact
        label="Destinations failing"
        note={
          tenant.openBreakers === 0
            ? "no breaker open"
            : plural(tenant.openBreakers, "breaker open", "breakers open")
        }
      >
        {formatCount(tenant.destinationsFailing)} of {formatCount(tenant.destinations)}
      </Fact>
      <Fact label="Last delivered">
        {tenant.lastDeliveredAt === null ? (
          <span className="text-faint">not yet</span>
        ) : (
          <>
            <Timestamp iso={tenant.lastDeliveredAt} />{" "}
            <span className="text-muted">{relativeTo(tenant.lastDeliveredAt, asOf)}</span>
          </>
        )}
      </Fact>
      <Fact label="Claims belong to" note={tenant.claimOwner === "sluice" ? undefined : "handed over"}>
        {tenant.claimOwner}
      </Fact>
    </>
  );
}
