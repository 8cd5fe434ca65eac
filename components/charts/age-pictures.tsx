"use client";
/**
 * The pictures of ages: first attempts, due work, service time. Gaps in the samples are gaps in the lines; nothing is
 * animated, so that a poll changes the picture and nothing else.
 */
import type { ReactNode } from "react";
import { Bar, BarChart, CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, YAxis } from "recharts";
import { formatCount } from "#components/ui/format.ts";
import { formatAge } from "#domain/queue-age.ts";
import { ageRows } from "./chart-data.ts";
import {
  AnnotationMarks,
  AXIS_WIDTH_PX,
  ageAxis,
  barWidth,
  ChartTip,
  EndLabels,
  firstSize,
  LINE,
  MARGIN,
  Objective,
  PICTURE_PX,
  type PictureProps,
  SMALL_MARGIN,
  SMALL_PX,
  timeAxis,
} from "./chart-parts.tsx";
import { onScale } from "./chart-scale.ts";

const GRID = <CartesianGrid stroke="var(--line)" vertical={false} />;
const CURSOR = { stroke: "var(--line-strong)" };
const MUTED = "var(--muted)";
const FAINT = "var(--faint)";
const NO_TIP = null;

/** How a line is drawn, and the colour of the word at its end. */
interface Look {
  stroke: string;
  strokeDasharray?: string;
  strokeWidth: number;
  word: string;
}
const OLDEST: Look = { stroke: "var(--accent-solid)", strokeWidth: 1.75, word: "var(--accent)" };
const P95: Look = { stroke: MUTED, strokeDasharray: "5 3", strokeWidth: 1.5, word: MUTED };
const P50: Look = { stroke: FAINT, strokeDasharray: "1 3", strokeWidth: 1.5, word: FAINT };

interface AgeLine {
  /** Which value of a row, already on the scale. */
  dataKey: string;
  name: string;
  look: Look;
  /** Where it ends, in seconds on the scale; null: it does not reach the end. */
  end: number | null | undefined;
}

interface AgeLinesProps<R> extends PictureProps {
  rows: R[];
  /** The exact values of one moment; null: there are none. */
  tip: (row: R) => readonly { name: string; value: string }[] | null;
  /** From the one below to the one on top. */
  lines: readonly AgeLine[];
  /** Objective lines, under everything else. */
  children?: ReactNode;
}

/** The frame of every picture of ages: one logarithmic axis, what people did, and each line named at its end. */
function AgeLines<R extends { t: number }>(props: AgeLinesProps<R>) {
  const { series, scale, zone, rows, tip, lines, children } = props;
  return (
    <div className="relative">
      <ResponsiveContainer width="100%" height={PICTURE_PX} initialDimension={firstSize(PICTURE_PX)}>
        <LineChart data={rows} margin={MARGIN}>
          {GRID}
          {timeAxis(series, zone)}
          {ageAxis(scale.top)}
          <Tooltip
            isAnimationActive={false}
            cursor={CURSOR}
            content={({ active, payload }) => {
              const row = payload?.[0]?.payload as R | undefined;
              const values = active && row !== undefined ? tip(row) : null;
              return row === undefined || values === null ? (
                NO_TIP
              ) : (
                <ChartTip t={row.t} zone={zone} rows={values} />
              );
            }}
          />
          {children}
          <AnnotationMarks series={series} />
          {lines.map(({ dataKey, name, look: { word: _word, ...look } }) => (
            <Line key={dataKey} {...LINE} {...look} dataKey={dataKey} name={name} />
          ))}
        </LineChart>
      </ResponsiveContainer>
      <EndLabels
        top={scale.top}
        labels={lines.toReversed().map(({ name, look, end }) => ({
          name,
          seconds: end ?? null,
          color: look.word,
        }))}
      />
    </div>
  );
}

/** Solid accent: the oldest that waits. Dashed: p95. Dotted: p50. */
export function FirstAttemptPicture(props: PictureProps) {
  const { series } = props;
  const rows = ageRows(series).map((row) => ({
    ...row,
    oldest: onScale(row.oldestMs),
    p50: onScale(row.p50Ms),
    p95: onScale(row.p95Ms),
  }));
  const last = rows.at(-1);
  // The minute that is not over has no quantiles yet.
  const counted = rows.findLast((row) => row.p95 !== null);
  const { routine, urgent } = series.objectives;
  return (
    <AgeLines
      {...props}
      rows={rows}
      tip={(row) =>
        row.oldestMs === null && row.p95Ms === null
          ? null
          : [
              { name: "max (oldest waiting)", value: formatAge(row.oldestMs) },
              { name: "p95", value: formatAge(row.p95Ms) },
              { name: "p50", value: formatAge(row.p50Ms) },
            ]
      }
      lines={[
        { dataKey: "p50", name: "p50", look: P50, end: counted?.p50 },
        { dataKey: "p95", name: "p95", look: P95, end: counted?.p95 },
        { dataKey: "oldest", name: "max", look: OLDEST, end: last?.oldest },
      ]}
    >
      <Objective name="page" ms={routine.firstAttemptPageMs} tone="danger" />
      <Objective name="target" ms={routine.firstAttemptTargetMs} tone="warn" below />
      <Objective name="urgent target" ms={urgent.firstAttemptTargetMs} tone="warn" below />
    </AgeLines>
  );
}

/** The oldest as a line; the count in bars on a panel of its own, not on a second axis. */
export function DuePicture(props: PictureProps) {
  const { series, scale, zone } = props;
  const rows = series.samples.map((point) => ({ ...point, due: onScale(point.dueMs) }));
  return (
    <>
      <AgeLines
        {...props}
        rows={rows}
        tip={(row) =>
          row.dueMs === null
            ? null
            : [
                { name: "Oldest", value: formatAge(row.dueMs) },
                { name: "Due", value: formatCount(row.dueCount ?? 0) },
                { name: "Held apart", value: formatCount(row.heldCount ?? 0) },
              ]
        }
        lines={[{ dataKey: "due", name: "oldest", look: OLDEST, end: rows.at(-1)?.due }]}
      >
        <Objective name="page" ms={series.dueLag.pageMs} tone="danger" />
        <Objective name="warn" ms={series.dueLag.warnMs} tone="warn" below />
      </AgeLines>
      <p className="pl-[52px] text-axis text-faint">Count</p>
      <ResponsiveContainer width="100%" height={SMALL_PX} initialDimension={firstSize(SMALL_PX)}>
        <BarChart data={rows} margin={SMALL_MARGIN} accessibilityLayer={false}>
          {timeAxis(series, zone, true)}
          <YAxis
            domain={[0, scale.dueCount]}
            ticks={[0, scale.dueCount]}
            interval={0}
            tickFormatter={formatCount}
            allowDataOverflow
            tickLine={false}
            axisLine={false}
            width={AXIS_WIDTH_PX}
          />
          <Bar dataKey="dueCount" fill={MUTED} isAnimationActive={false} barSize={barWidth(rows.length)} />
        </BarChart>
      </ResponsiveContainer>
    </>
  );
}

/** How long the endpoint takes. Dashed: p95. Dotted: p50. */
export function ServicePicture(props: PictureProps) {
  const rows = props.series.counts.map((point) => ({
    t: point.t,
    p50Ms: point.serviceP50Ms,
    p95Ms: point.serviceP95Ms,
    p50: onScale(point.serviceP50Ms),
    p95: onScale(point.serviceP95Ms),
  }));
  const last = rows.findLast((row) => row.p95 !== null);
  return (
    <AgeLines
      {...props}
      rows={rows}
      tip={(row) =>
        row.p95Ms === null
          ? null
          : [
              { name: "p95", value: formatAge(row.p95Ms) },
              { name: "p50", value: formatAge(row.p50Ms) },
            ]
      }
      lines={[
        { dataKey: "p50", name: "p50", look: P50, end: last?.p50 },
        { dataKey: "p95", name: "p95", look: P95, end: last?.p95 },
      ]}
    />
  );
}
