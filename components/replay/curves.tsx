"use client";
/**
 * The curves of a batch against their thresholds: its rate and its cap, its 429 and failure shares, and how late live work
 * is. The same numbers stand in the table below. Nothing is animated, and a gap is a gap.
 */
import type { ReactNode } from "react";
import { useState } from "react";
import {
  CartesianGrid,
  Line,
  LineChart,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import { ChartTip, LINE, MARGIN } from "#components/charts/chart-parts.tsx";
import { StoredWords } from "#components/replays/stored-words.tsx";
import { Button } from "#components/ui/button.tsx";
import { formatClock, type Zone } from "#components/ui/format.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Cell, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useZone } from "#components/ui/zone.tsx";
import type { ReplayDetail, ReplaySeries } from "#db/console/replay/replay-views.ts";
import { formatLength, NO_DATA } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { type CurveRow, curveRows } from "./curve-data.ts";

const SECOND_MS = 1_000;
const PERCENT = 100;
const AXIS_PX = 56;
const CURVE_PX = 120;
const TICK = { fill: "var(--faint)", fontSize: 12 };
const GRID = <CartesianGrid stroke="var(--line)" vertical={false} />;
/** Rows of the table; the newest. */
const MAX_ROWS = 60;

interface CurveLine {
  key: keyof CurveRow;
  name: string;
  stroke: string;
  dash?: string;
}

interface Curve {
  title: string;
  unit: string;
  lines: readonly CurveLine[];
  /** The line that must not be crossed; empty: there is none yet. */
  limits: readonly { value: number; name: string }[];
  /** A value in words, also beside the axis. */
  write: (value: number | null) => string;
}

function curvesOf(series: ReplaySeries): Curve[] {
  return [
    {
      title: "Requests",
      unit: "per minute",
      lines: [{ key: "perMinute", name: "sent", stroke: "var(--accent-solid)" }],
      limits: series.capPerMinute === null ? [] : [{ value: series.capPerMinute, name: "cap" }],
      write: numberWords,
    },
    {
      title: "429 and failures",
      unit: "of its requests",
      lines: [
        { key: "failed", name: "failed", stroke: "var(--danger-mark)" },
        { key: "rateLimited", name: "429", stroke: "var(--warn-mark)", dash: "5 3" },
      ],
      limits: [
        { value: series.failedLimit * PERCENT, name: "failures stop" },
        { value: series.rateLimitedLimit * PERCENT, name: "429 stop" },
      ],
      write: percentWords,
    },
    {
      title: "Oldest due but unclaimed in the region",
      unit: "age",
      lines: [{ key: "dueSeconds", name: "live work", stroke: "var(--accent-solid)" }],
      limits: [{ value: series.dueLagLimitMs / SECOND_MS, name: "stop" }],
      write: ageWords,
    },
  ];
}

export interface CurvesProps {
  series: ReplaySeries;
  region: Region;
  /** They name the destinations in what happened. */
  lanes: ReplayDetail["lanes"];
}

export default function Curves({ series, region, lanes }: CurvesProps) {
  const zone = useZone();
  const [asTable, setAsTable] = useState(false);
  if (series.points.length === 0) {
    return (
      <Notice kind="empty" title="Nothing was sent yet" compact>
        The curves begin with the first release.
      </Notice>
    );
  }
  const rows = curveRows(series);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <p>
        <Button variant="quiet" onClick={() => setAsTable(!asTable)}>
          View curves as {asTable ? "charts" : "table"}
        </Button>
      </p>
      {asTable ? (
        <CurveTable rows={rows} />
      ) : (
        curvesOf(series).map((curve) => <Picture key={curve.title} curve={curve} rows={rows} zone={zone} />)
      )}
      <Marks series={series} region={region} lanes={lanes} />
    </div>
  );
}

function Picture({ curve, rows, zone }: { curve: Curve; rows: CurveRow[]; zone: Zone }) {
  const last = rows.at(-1);
  const words = curve.lines.map(({ key, name }) => `${name} ${curve.write(last?.[key] ?? null)}`).join(", ");
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 flex flex-wrap gap-x-3 text-table">
        <span className="font-medium">{curve.title}</span>
        <span className="text-faint">{curve.unit}</span>
        <span className="text-muted">now {words}</span>
      </figcaption>
      <section aria-label={`${curve.title}, ${curve.unit}. Latest: ${words}.`}>
        <ResponsiveContainer width="100%" height={CURVE_PX}>
          <LineChart data={rows} margin={MARGIN}>
            {GRID}
            <XAxis
              dataKey="t"
              type="number"
              domain={["dataMin", "dataMax"]}
              tick={TICK}
              tickLine={false}
              tickFormatter={(t: number) => formatClock(new Date(t).toISOString(), zone)}
              minTickGap={60}
            />
            <YAxis
              tick={TICK}
              width={AXIS_PX}
              tickLine={false}
              axisLine={false}
              domain={[0, topOf(curve)]}
              tickFormatter={curve.write}
            />
            <Tooltip
              isAnimationActive={false}
              content={({ active, payload }) =>
                tip(curve, active ? (payload?.[0]?.payload as CurveRow) : undefined, zone)
              }
            />
            {curve.limits.map(({ value, name }) => (
              <ReferenceLine
                key={name}
                y={value}
                stroke="var(--muted)"
                strokeDasharray="2 3"
                label={{ value: name, position: "insideTopRight", fill: "var(--muted)", fontSize: 12 }}
              />
            ))}
            {curve.lines.map(({ key, name, stroke, dash }) => (
              <Line
                key={key}
                {...LINE}
                dataKey={key}
                name={name}
                stroke={stroke}
                strokeWidth={1.75}
                {...(dash === undefined ? {} : { strokeDasharray: dash })}
              />
            ))}
          </LineChart>
        </ResponsiveContainer>
      </section>
    </figure>
  );
}

/** Room above the limit, so that a line that crosses it is seen to. */
const HEADROOM = 1.25;

function topOf({ limits }: Curve): (dataMax: number) => number {
  const limit = Math.max(0, ...limits.map(({ value }) => value));
  return (dataMax) =>
    Math.max(1, Math.ceil(Math.max(Number.isFinite(dataMax) ? dataMax : 0, limit) * HEADROOM));
}

function tip(curve: Curve, row: CurveRow | undefined, zone: Zone): ReactNode {
  if (row === undefined) return null;
  return (
    <ChartTip
      t={row.t}
      zone={zone}
      rows={curve.lines.map(({ key, name }) => ({ name, value: curve.write(row[key]) }))}
    />
  );
}

function numberWords(value: number | null): string {
  return value === null ? NO_DATA : String(Number(value.toFixed(1)));
}

function percentWords(value: number | null): string {
  return value === null ? NO_DATA : `${numberWords(value)} %`;
}

/** @param seconds as the axis has it */
function ageWords(seconds: number | null): string {
  return seconds === null ? NO_DATA : formatLength(seconds * SECOND_MS);
}

function CurveTable({ rows }: { rows: readonly CurveRow[] }) {
  return (
    <Table
      pinned
      caption="Curves of the batch, latest first"
      columns={[
        { key: "t", label: "Time" },
        { key: "sent", label: "Requests per minute", align: "right" },
        { key: "limited", label: "429", align: "right" },
        { key: "failed", label: "Failed", align: "right" },
        { key: "due", label: "Oldest due", align: "right" },
      ]}
    >
      {rows
        .slice(-MAX_ROWS)
        .reverse()
        .map((row) => (
          <Row key={row.t}>
            <HeadCell>
              <Timestamp iso={new Date(row.t).toISOString()} plain />
            </HeadCell>
            <Cell align="right">{numberWords(row.perMinute)}</Cell>
            <Cell align="right">{percentWords(row.rateLimited)}</Cell>
            <Cell align="right">{percentWords(row.failed)}</Cell>
            <Cell align="right">{ageWords(row.dueSeconds)}</Cell>
          </Row>
        ))}
    </Table>
  );
}

function Marks({ series, region, lanes }: CurvesProps) {
  if (series.marks.length === 0) return null;
  return (
    <ol aria-label="Steps in this time" className="grid gap-0.5 text-muted text-table">
      {series.marks.map(({ at, kind, text }) => (
        <li key={`${at}${kind}${text}`} className="break-words">
          <Timestamp iso={at} form="clock" named plain />{" "}
          <StoredWords text={text} region={region} lanes={lanes} />
        </li>
      ))}
    </ol>
  );
}
