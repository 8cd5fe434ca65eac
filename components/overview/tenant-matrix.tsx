"use client";
import { Gauge, PauseCircle, TimerReset } from "lucide-react";
/**
 * Who is affected: one line per tenant and region, the worst lag first. Work that a pause holds stands in columns of its own;
 * work behind a gate, a rate or a cap stays in the lag. Lines under the pointer or the focus do not move.
 */
import Link from "next/link";
import { Button } from "#components/ui/button.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { MatrixRow } from "#db/console/queue-summary.ts";
import type { Overview } from "#db/console/read-overview.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { HELD_WORDS } from "./held-words.ts";
import { toneOf } from "./region-card.tsx";

/** Lines shown over all regions. */
const MAX_LINES = 50;

const COLUMNS: readonly Column[] = [
  { key: "tenant", label: "Tenant" },
  { key: "region", label: "Region" },
  { key: "first", label: "First attempt, oldest", align: "right" },
  { key: "due", label: "Due, oldest", align: "right" },
  { key: "dueCount", label: "Due", align: "right" },
  { key: "state", label: "State" },
  { key: "held", label: "Held, oldest", align: "right" },
  { key: "heldCount", label: "Held", align: "right" },
  { key: "ready", label: "Ready", align: "right" },
  { key: "delayed", label: "Delayed", align: "right" },
  { key: "flight", label: "In flight", align: "right" },
  { key: "dead", label: "Dead letters", align: "right" },
  { key: "last", label: "Last delivered", align: "right" },
];

interface Line extends MatrixRow {
  region: Region;
}

/** Null while nothing has been read. */
export function TenantMatrix({ overview, stale }: { overview: Overview | null; stale: boolean }) {
  const lines = overview === null ? [] : linesOf(overview);
  const scope = overview?.regions.map((answer) => answer.region).join() ?? "";
  const { rows, waiting, release, hold } = useSettledRows(lines, keyOf, scope);
  const silent = overview?.regions.filter((answer) => answer.status === "unavailable") ?? [];
  return (
    <div {...hold}>
      <Panel
        flush
        stale={stale}
        title="Tenants by worst lag"
        note={
          silent.length > 0
            ? `${silent.map((answer) => answer.region.toUpperCase()).join(", ")} did not answer and is not in this table`
            : undefined
        }
        actions={waiting ? <Button onClick={release}>Show the new order</Button> : undefined}
      >
        {overview !== null && lines.length === 0 ? (
          <Notice kind="empty" title="No tenant has work waiting" compact>
            A tenant shows up here when it has deliveries that are not finished, or dead letters.
          </Notice>
        ) : (
          <Table caption="Tenants by region, worst lag first" columns={COLUMNS}>
            {overview === null ? (
              <SkeletonRows rows={8} columns={COLUMNS.length} />
            ) : (
              rows.map((line) => <MatrixLine key={keyOf(line)} line={line} overview={overview} />)
            )}
          </Table>
        )}
        <LeftOut lines={leftOutOf(overview, lines.length)} />
      </Panel>
    </div>
  );
}

function LeftOut({ lines }: { lines: number }) {
  if (lines === 0) return null;
  return (
    <p className="border-line border-t px-4 py-2.5 text-muted text-table">
      {plural(lines, "more line")} with a smaller lag {lines === 1 ? "is" : "are"} not shown. Choose one
      region to see more of it.
    </p>
  );
}

function keyOf(line: Line): string {
  return `${line.region}:${line.id}`;
}

function MatrixLine({ line, overview }: { line: Line; overview: Overview }) {
  return (
    <Row>
      <HeadCell className="sticky left-0 bg-surface">
        <Link
          href={`/deliveries?region=${line.region}&tenant=${line.slug}`}
          prefetch={false}
          className="font-medium underline-offset-4 hover:underline"
        >
          {line.name}
        </Link>
      </HeadCell>
      <Cell className="text-muted">{line.region.toUpperCase()}</Cell>
      <Cell align="right">
        <FirstAttemptAge line={line} overview={overview} />
      </Cell>
      <Cell align="right">
        <Age
          ms={line.due.oldestMs}
          tone={toneOf(line.due.oldestMs, overview.dueLag.warnMs, overview.dueLag.pageMs)}
        />
      </Cell>
      <Count value={line.due.count} />
      <Cell>
        <TenantState line={line} />
      </Cell>
      <Cell align="right">
        <Age ms={line.held.oldestMs} tone={line.held.count > 0 ? "held" : "neutral"} />
      </Cell>
      <Count value={line.held.count} />
      <Count value={line.ready} />
      <Count value={line.delayed} />
      <Count value={line.inFlight} />
      <Count
        value={line.deadLetters.count}
        href={`/dead-letters?region=${line.region}&tenant=${line.slug}`}
      />
      <Cell align="right" className="text-muted">
        {line.lastDeliveredAt === null ? (
          <Nothing />
        ) : (
          <Timestamp iso={line.lastDeliveredAt} form="clock" plain />
        )}
      </Cell>
    </Row>
  );
}

function FirstAttemptAge({ line, overview }: { line: Line; overview: Overview }) {
  const { firstAttemptWarnMs, firstAttemptTargetMs } =
    overview.objectives[line.firstAttemptClass ?? "routine"];
  return (
    <Age
      ms={line.firstAttemptMs}
      tone={toneOf(line.firstAttemptMs, firstAttemptWarnMs, firstAttemptTargetMs)}
    />
  );
}

function TenantState({ line }: { line: Line }) {
  switch (line.state) {
    case "paused":
      return <StatusText tone="held" icon={PauseCircle} label="Paused" />;
    case "held":
      return <StatusText tone="held" label={capital(HELD_WORDS[line.held.why ?? ""] ?? "Held")} />;
    case "rate_limited":
      return (
        <span className="inline-flex items-center gap-1">
          <StatusText tone="warn" icon={TimerReset} label="Rate-limited" />
          {line.stateUntil === null ? null : (
            <span className="text-muted">
              until <Timestamp iso={line.stateUntil} form="clock" plain />
            </span>
          )}
        </span>
      );
    case "active":
      return <StatusText tone="neutral" icon={Gauge} label="Active" />;
  }
}

function Age({ ms, tone }: { ms: number; tone: Tone }) {
  if (ms === 0) return <span className="text-faint">{formatAge(0)}</span>;
  if (tone === "neutral") return formatAge(ms);
  return <StatusText tone={tone} label={formatAge(ms)} className="font-medium" />;
}

function Count({ value, href }: { value: number; href?: string }) {
  const text = formatCount(value);
  return (
    <Cell align="right" className={value === 0 ? "text-faint" : undefined}>
      {href && value > 0 ? (
        <Link href={href} prefetch={false} className="underline-offset-4 hover:underline">
          {text}
        </Link>
      ) : (
        text
      )}
    </Cell>
  );
}

function Nothing() {
  return (
    <span className="text-faint">
      <span aria-hidden="true">–</span>
      <span className="sr-only">none</span>
    </span>
  );
}

function linesOf(overview: Overview): Line[] {
  return overview.regions
    .flatMap((answer) =>
      answer.status === "ok" ? answer.data.tenants.map((row) => ({ ...row, region: answer.region })) : [],
    )
    .sort((a, b) => worstOf(b) - worstOf(a))
    .slice(0, MAX_LINES);
}

function leftOutOf(overview: Overview | null, shown: number): number {
  let all = 0;
  for (const answer of overview?.regions ?? []) {
    if (answer.status === "ok") all += answer.data.tenants.length + answer.data.tenantsLeftOut;
  }
  return Math.max(0, all - shown);
}

function worstOf(row: MatrixRow): number {
  return Math.max(row.firstAttemptMs, row.due.oldestMs);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
