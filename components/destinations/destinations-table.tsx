"use client";
/** One page of destinations with their health. Of a URL it shows the host; the path is masked before it gets here. */
import Link from "next/link";
import { Age, BoundedFigure, Nothing } from "#components/tenants/figures.tsx";
import { formatCount } from "#components/ui/format.ts";
import { ageAt, relativeTo } from "#components/ui/relative.ts";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { DestinationStateMark } from "./destination-state.tsx";
import { concurrencyText, rateText, successText, successTone } from "./health-words.ts";

/** As db/console counts dead letters of a list. */
const DEAD_LIMIT = 1_000;
const SKELETON_ROWS = 12;
const MAX_RAW_CHARS = 16;

const COLUMNS: readonly Column[] = [
  { key: "name", label: "Destination" },
  { key: "host", label: "Host, path masked" },
  { key: "tenant", label: "Tenant" },
  { key: "state", label: "State" },
  { key: "success", label: "Success, 24 h", align: "right" },
  { key: "p95", label: "p95, 1 h", align: "right" },
  { key: "last", label: "Last result" },
  { key: "retry", label: "Retry-After seen" },
  { key: "concurrency", label: "In flight / limit", align: "right" },
  { key: "rate", label: "Rate", align: "right" },
  { key: "secret", label: "Secret age", align: "right" },
  { key: "dead", label: "Dead letters", align: "right" },
];

export interface DestinationsTableProps {
  region: Region;
  /** Null while nothing has been read. */
  rows: readonly DestinationHealth[] | null;
  asOf: string | null;
  busy: boolean;
}

export function DestinationsTable({ region, rows, asOf, busy }: DestinationsTableProps) {
  return (
    <Table
      pinned
      caption={`Destinations of ${region.toUpperCase()} with their health`}
      columns={COLUMNS}
      busy={busy}
    >
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => <DestinationLine key={row.id} region={region} row={row} asOf={asOf} />)
      )}
    </Table>
  );
}

interface LineProps {
  region: Region;
  row: DestinationHealth;
  asOf: string;
}

function DestinationLine({ region, row, asOf }: LineProps) {
  return (
    <Row className="group">
      <HeadCell>
        <Link
          href={`/destinations/${row.id}?region=${region}`}
          prefetch={false}
          className="inline-flex min-h-6 items-center font-medium underline-offset-4 hover:underline"
        >
          {row.name}
        </Link>
      </HeadCell>
      <Cell className="font-mono text-muted">
        <span title={row.maskedUrl}>{row.host}</span>
      </Cell>
      <Cell>
        <Link
          href={`/tenants/${row.tenant.id}?region=${region}`}
          prefetch={false}
          className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
        >
          {row.tenant.name}
        </Link>
      </Cell>
      <Cell>
        <DestinationStateMark destination={row} />
      </Cell>
      <HealthCells row={row} asOf={asOf} />
      <Cell align="right">{concurrencyText(row)}</Cell>
      <Cell align="right">{rateText(row)}</Cell>
      <Cell align="right">
        {formatAge(ageAt(row.secretSetAt, asOf))}
        {row.previousSecretUntil === null ? null : <span className="text-muted"> (two sign)</span>}
      </Cell>
      <Cell align="right">
        <BoundedFigure
          count={row.deadLetters.count}
          limit={DEAD_LIMIT}
          href={`/dead-letters?region=${region}&destination=${row.id}`}
        />
      </Cell>
    </Row>
  );
}

function HealthCells({ row, asOf }: Omit<LineProps, "region">) {
  const tone = successTone(row.success);
  return (
    <>
      <Cell align="right">
        {tone === null ? (
          <Nothing label="no request" />
        ) : tone === "neutral" ? (
          successText(row.success)
        ) : (
          <StatusText tone={tone} label={successText(row.success)} />
        )}
      </Cell>
      <Cell align="right">
        {row.latencyP95Ms === null ? <Nothing label="no request" /> : `${formatCount(row.latencyP95Ms)} ms`}
      </Cell>
      <Cell className="text-muted">
        {row.last === null ? (
          <Nothing label="no attempt yet" />
        ) : (
          <>
            {resultText(row.last.outcome, row.last.status)}{" "}
            <span className="text-faint">{relativeTo(row.last.at, asOf)}</span>
          </>
        )}
      </Cell>
      <Cell className="text-muted">
        {row.retryAfter === null ? (
          <Nothing label="never" />
        ) : (
          <>
            <code className="font-mono" title={row.retryAfter.raw}>
              {shortened(row.retryAfter.raw)}
            </code>
            {row.retryAfter.seenAt === null ? null : (
              <span className="text-faint">
                , seen <Age ms={ageAt(row.retryAfter.seenAt, asOf)} /> ago
              </span>
            )}
          </>
        )}
      </Cell>
    </>
  );
}

/** A date as received is long; the whole of it is in the title and on the destination's page. */
function shortened(raw: string): string {
  return raw.length > MAX_RAW_CHARS ? `${raw.slice(0, MAX_RAW_CHARS)}…` : raw;
}
