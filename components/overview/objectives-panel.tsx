/**
 * The two objectives, side by side and never blended: how many new deliveries were tried within their class's time, and how
 * far delayed attempts are behind their due time.
 */
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { Overview, RegionOverview } from "#db/console/read-overview.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";
import { bounded, formatShare } from "./overview-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "what", label: "Objective" },
  { key: "target", label: "Target", align: "right" },
  { key: "now", label: "Now", align: "right" },
  { key: "of", label: "Of", align: "right" },
];

export function ObjectivesPanel({ overview, stale }: { overview: Overview | null; stale: boolean }) {
  return (
    <Panel flush title="Two objectives" note="never blended into one number" stale={stale}>
      {overview === null ? (
        <div className="grid gap-2 p-4" aria-hidden="true">
          <Skeleton className="h-24 w-full" />
        </div>
      ) : (
        <div className="grid gap-3 py-2">
          {overview.regions.map((answer) =>
            answer.status === "ok" ? (
              <RegionObjectives
                key={answer.region}
                region={answer.region.toUpperCase()}
                data={answer.data}
                overview={overview}
              />
            ) : (
              <p key={answer.region} className="px-4 text-muted text-table">
                {answer.region.toUpperCase()} does not answer: its objectives are unknown.
              </p>
            ),
          )}
        </div>
      )}
    </Panel>
  );
}

interface RegionObjectivesProps {
  region: string;
  data: RegionOverview;
  overview: Overview;
}

function RegionObjectives({ region, data, overview }: RegionObjectivesProps) {
  const { delayedLag, thresholds } = data;
  const behind = delayedLag.oldestMs > thresholds.delayedLagTargetMs;
  return (
    <Table caption={`Objectives of region ${region}`} columns={COLUMNS}>
      {data.triedShares.map((row) => (
        <Row key={row.serviceClass}>
          <HeadCell wrap className="w-full">
            <span className="text-muted">{region}</span> New {row.serviceClass} deliveries tried within{" "}
            {formatLength(row.targetMs)}, in the last 15 m
          </HeadCell>
          <Cell align="right">{formatShare(thresholds.triedShareTarget)}</Cell>
          <Cell align="right">
            {row.share !== null && row.share < thresholds.triedShareTarget ? (
              <StatusText tone="danger" label={formatShare(row.share)} />
            ) : (
              formatShare(row.share)
            )}
          </Cell>
          <Cell align="right" className="text-muted">
            {formatCount(row.tried)}
            {row.waitingLate > 0 ? ` + ${bounded(row.waitingLate, overview.countLimit)} waiting` : ""}
          </Cell>
        </Row>
      ))}
      <Row>
        <HeadCell wrap className="w-full">
          <span className="text-muted">{region}</span> Delayed attempts behind their due time, oldest
        </HeadCell>
        <Cell align="right">{formatLength(thresholds.delayedLagTargetMs)}</Cell>
        <Cell align="right">
          {behind ? (
            <StatusText tone="danger" label={formatAge(delayedLag.oldestMs)} />
          ) : (
            formatAge(delayedLag.oldestMs)
          )}
        </Cell>
        <Cell align="right" className="text-muted">
          {formatCount(delayedLag.count)}
        </Cell>
      </Row>
    </Table>
  );
}
