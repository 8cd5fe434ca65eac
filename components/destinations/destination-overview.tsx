"use client";
/** Is this destination in trouble, and why: its health now, the evidence of what holds it, and how it went over a range. */
import { DestinationCharts } from "#components/charts/destination-charts.tsx";
import { HELD_WORDS } from "#components/overview/held-words.ts";
import { useRange } from "#components/shell/time-range.tsx";
import { Age, ageTone, BoundedFigure, Fact, Facts } from "#components/tenants/figures.tsx";
import type { DetailView } from "#components/tenants/use-detail.ts";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DestinationAnswer, DestinationDetail } from "#db/console/read-destination.ts";
import { EvidencePanel } from "./evidence-panel.tsx";
import { concurrencyText, rateText, successText, successTone } from "./health-words.ts";

export interface DestinationOverviewProps {
  answer: DestinationAnswer;
  asOf: string;
  stale: boolean;
  view: DetailView<string>;
}

export function DestinationOverview({ answer, asOf, stale, view }: DestinationOverviewProps) {
  const { destination } = answer;
  const [range] = useRange();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <EvidencePanel destination={destination} asOf={asOf} stale={stale} />
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
          <Fact wide label="Address" note="path and query are never shown">
            <code className="break-all font-mono text-table">{destination.maskedUrl}</code>
          </Fact>
          <HealthFacts destination={destination} asOf={asOf} />
          <WaitingFacts answer={answer} />
        </Facts>
      </Panel>
      <DestinationCharts region={view.region} destinationId={destination.id} range={range} />
    </div>
  );
}

function HealthFacts({ destination, asOf }: { destination: DestinationDetail; asOf: string }) {
  const { success, latencyP95Ms, last } = destination;
  const tone = successTone(success);
  return (
    <>
      <Fact label="Success, 24 h">
        {tone === null ? (
          <span className="text-faint">no request</span>
        ) : tone === "neutral" ? (
          successText(success)
        ) : (
          <StatusText tone={tone} label={successText(success)} />
        )}
      </Fact>
      <Fact label="p95 latency, 1 h" note="from the p95 of each minute">
        {latencyP95Ms === null ? (
          <span className="text-faint">no request</span>
        ) : (
          `${formatCount(latencyP95Ms)} ms`
        )}
      </Fact>
      <Fact label="Last result" note={last === null ? undefined : relativeTo(last.at, asOf)}>
        {last === null ? (
          <span className="text-faint">no attempt yet</span>
        ) : (
          resultText(last.outcome, last.status)
        )}
      </Fact>
      <Fact label="In flight / limit">{concurrencyText(destination)}</Fact>
      <Fact
        label="Rate"
        note={destination.ratePerSecond === null ? "empty: its concurrency alone limits it" : undefined}
      >
        {rateText(destination)}
      </Fact>
    </>
  );
}

function WaitingFacts({ answer: { destination, dueLag, countLimit } }: { answer: DestinationAnswer }) {
  const { due, held, gated, deadLetters, region, id } = destination;
  return (
    <>
      <Fact label="Due, unclaimed, oldest" note={`${formatCount(due.count)} due`}>
        <Age ms={due.oldestMs} tone={ageTone(due.oldestMs, dueLag.warnMs, dueLag.pageMs)} />
      </Fact>
      <Fact label="Due behind the gate or breaker">
        <BoundedFigure count={gated} limit={Number.POSITIVE_INFINITY} />
      </Fact>
      <Fact
        label="Held apart"
        note={held.count === 0 ? "no decision of people holds work" : (HELD_WORDS[held.why ?? ""] ?? "held")}
      >
        {held.count === 0 ? (
          <span className="text-faint">0</span>
        ) : (
          <span className="stripes rounded-sm px-1.5 text-held">
            {formatCount(held.count)}, oldest <Age ms={held.oldestMs} />
          </span>
        )}
      </Fact>
      <Fact label="Ready and delayed">
        {formatCount(destination.ready)} and {formatCount(destination.delayed)}
      </Fact>
      <Fact label="Dead letters">
        <BoundedFigure
          count={deadLetters.count}
          limit={countLimit}
          href={`/dead-letters?region=${region}&destination=${id}`}
        />
      </Fact>
    </>
  );
}
