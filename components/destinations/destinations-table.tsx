"use client";
/** One page of destinations with their health. Of a URL it shows the host; the path is masked before it gets here. */
import Link from "next/link";
import { Age, BoundedFigure, Nothing } from "#components/tenants/figures.tsx";
import { formatCount } from "#components/ui/format.ts";
import { ageAt, relativeTo } from "#components/ui/relative.ts";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, Clipped, type Column, HeadCell, Lines, Row, Table } from "#components/ui/table.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { DestinationStateMark } from "./destination-state.tsx";
import { allowedText, capText, concurrencyText, rateText, successText, successTone } from "./health-words.ts";

/** As db/console counts dead letters of a list. */
const DEAD_LIMIT = 1_000;
const SKELETON_ROWS = 12;
const MAX_RAW_CHARS = 10;

/** The tenant's column is left out where all rows are of one. */
const TENANT = "tenant";
const COLUMNS: readonly Column[] = [
  { key: "name", label: "Destination", srLabel: ", host with its path masked" },
  { key: TENANT, label: "Tenant" },
  { key: "state", label: "State" },
  { key: "success", label: "Success, 24 h", align: "right" },
  { key: "p95", label: "p95, 1 h", align: "right" },
  { key: "last", label: "Last result", srLabel: ", Retry-After seen" },
  { key: "concurrency", label: "In flight / limit", srLabel: ", rate", align: "right" },
  { key: "dead", label: "Dead letters", align: "right" },
  { key: "secret", label: "Secret age", align: "right" },
];

export interface DestinationsTableProps {
  region: Region;
  /** The list is of one tenant. */
  ofOneTenant: boolean;
  /** Null while nothing has been read. */
  rows: readonly DestinationHealth[] | null;
  asOf: string | null;
  busy: boolean;
}

export function DestinationsTable({ region, ofOneTenant, rows, asOf, busy }: DestinationsTableProps) {
  const columns = ofOneTenant ? COLUMNS.filter(({ key }) => key !== TENANT) : COLUMNS;
  return (
    <Table
      pinned
      caption={`Destinations of ${region.toUpperCase()} with their health`}
      columns={columns}
      busy={busy}
    >
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={columns.length} />
      ) : (
        rows.map((row) => (
          <DestinationLine key={row.id} region={region} ofOneTenant={ofOneTenant} row={row} asOf={asOf} />
        ))
      )}
    </Table>
  );
}

interface LineProps {
  region: Region;
  ofOneTenant: boolean;
  row: DestinationHealth;
  asOf: string;
}

function DestinationLine({ region, ofOneTenant, row, asOf }: LineProps) {
  return (
    <Row className="group">
      <HeadCell>
        <Lines under={<code className="font-mono">{row.host}</code>} title={row.maskedUrl}>
          <Link
            href={`/destinations/${row.id}?region=${region}`}
            prefetch={false}
            className="inline-flex min-h-6 items-center font-medium underline-offset-4 hover:underline"
          >
            <Clipped text={row.name} />
          </Link>
        </Lines>
      </HeadCell>
      {ofOneTenant ? null : (
        <Cell>
          <Link
            href={`/tenants/${row.tenant.id}?region=${region}`}
            prefetch={false}
            className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
          >
            <Clipped text={row.tenant.name} />
          </Link>
        </Cell>
      )}
      <Cell>
        <DestinationStateMark destination={row} asOf={asOf} />
      </Cell>
      <HealthCells row={row} asOf={asOf} />
      <Cell align="right">
        <Lines under={limitsBelow(row)} title={concurrencyText(row)}>
          {allowedText(row)}
        </Lines>
      </Cell>
      <Cell align="right">
        <BoundedFigure
          count={row.deadLetters.count}
          limit={DEAD_LIMIT}
          href={`/dead-letters?region=${region}&destination=${row.id}`}
        />
      </Cell>
      <Cell align="right">
        <Lines under={row.previousSecretUntil === null ? null : "two sign"}>
          {formatAge(ageAt(row.secretSetAt, asOf))}
        </Lines>
      </Cell>
    </Row>
  );
}

function HealthCells({ row, asOf }: Pick<LineProps, "row" | "asOf">) {
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
          <Lines
            under={row.retryAfter === null ? null : <RetryAfterSeen seen={row.retryAfter} asOf={asOf} />}
          >
            {resultText(row.last.outcome, row.last.status)}{" "}
            <span className="text-faint">{relativeTo(row.last.at, asOf)}</span>
          </Lines>
        )}
      </Cell>
    </>
  );
}

function RetryAfterSeen({
  seen: { raw, seenAt },
  asOf,
}: {
  seen: NonNullable<DestinationHealth["retryAfter"]>;
  asOf: string;
}) {
  return (
    <span title={raw}>
      Retry-After <code className="font-mono">{shortened(raw)}</code>
      {seenAt === null ? null : (
        <>
          , <Age ms={ageAt(seenAt, asOf)} /> ago
        </>
      )}
    </span>
  );
}

/** The cap where less is allowed, and the rate where there is one. */
function limitsBelow(row: DestinationHealth): string | null {
  const rate = row.ratePerSecond === null ? null : rateText(row);
  const parts = [capText(row.concurrency), rate].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join("; ");
}

/** A date as received is long; the whole of it is in the title and on the destination's page. */
function shortened(raw: string): string {
  return raw.length > MAX_RAW_CHARS ? `${raw.slice(0, MAX_RAW_CHARS)}…` : raw;
}
