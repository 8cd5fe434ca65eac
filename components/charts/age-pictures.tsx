"use client";
/**
 * The pictures of ages: first attempts, due work, service time. Gaps in the samples are gaps in the lines; nothing is
 * animated, so that a poll changes the picture and nothing else.
 */
import { Bar, BarChart, CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, YAxis } from "recharts";
import { formatCount } from "#components/ui/format.ts";
import { formatAge } from "#domain/queue-age.ts";
import { ageRows } from "./chart-data.ts";
import {
  AXIS_WIDTH_PX,
  ageAxis,
  annotationLines,
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
const ACCENT = "var(--accent-solid)";
const MUTED = "var(--muted)";
const FAINT = "var(--faint)";
const NO_TICK = null;

/** The row of a tooltip's payload. */
function rowOf<T>(payload: readonly { payload?: unknown }[] | undefined): T | undefined {
  return payload?.[0]?.payload as T | undefined;
}

/** Solid accent: the oldest that waits. Dashed: p95. Dotted: p50. */
export function FirstAttemptPicture({ series, scale, zone }: PictureProps) {
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
              const row = rowOf<(typeof rows)[number]>(payload);
              if (!active || row === undefined || (row.oldestMs === null && row.p95Ms === null))
                return NO_TICK;
              return (
                <ChartTip
                  t={row.t}
                  zone={zone}
                  rows={[
                    { name: "max (oldest waiting)", value: formatAge(row.oldestMs) },
                    { name: "p95", value: formatAge(row.p95Ms) },
                    { name: "p50", value: formatAge(row.p50Ms) },
                  ]}
                />
              );
            }}
          />
          <Objective name="page" ms={routine.firstAttemptPageMs} tone="danger" />
          <Objective name="target" ms={routine.firstAttemptTargetMs} tone="warn" below />
          <Objective name="urgent target" ms={urgent.firstAttemptTargetMs} tone="warn" below />
          {annotationLines(series.annotations)}
          <Line {...LINE} dataKey="p50" name="p50" stroke={FAINT} strokeDasharray="1 3" strokeWidth={1.5} />
          <Line {...LINE} dataKey="p95" name="p95" stroke={MUTED} strokeDasharray="5 3" strokeWidth={1.5} />
          <Line {...LINE} dataKey="oldest" name="max" stroke={ACCENT} strokeWidth={1.75} />
        </LineChart>
      </ResponsiveContainer>
      <EndLabels
        top={scale.top}
        labels={[
          { name: "max", seconds: last?.oldest ?? null, color: "var(--accent)" },
          { name: "p95", seconds: counted?.p95 ?? null, color: MUTED },
          { name: "p50", seconds: counted?.p50 ?? null, color: FAINT },
        ]}
      />
    </div>
  );
}

/** The oldest as a line; the count in bars on a panel of its own, not on a second axis. */
export function DuePicture({ series, scale, zone }: PictureProps) {
  const rows = series.samples.map((point) => ({ ...point, due: onScale(point.dueMs) }));
  const last = rows.at(-1);
  return (
    <>
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
                const row = rowOf<(typeof rows)[number]>(payload);
                if (!active || row === undefined || row.dueMs === null) return NO_TICK;
                return (
                  <ChartTip
                    t={row.t}
                    zone={zone}
                    rows={[
                      { name: "Oldest", value: formatAge(row.dueMs) },
                      { name: "Due", value: formatCount(row.dueCount ?? 0) },
                      { name: "Held apart", value: formatCount(row.heldCount ?? 0) },
                    ]}
                  />
                );
              }}
            />
            <Objective name="page" ms={series.dueLag.pageMs} tone="danger" />
            <Objective name="warn" ms={series.dueLag.warnMs} tone="warn" below />
            {annotationLines(series.annotations)}
            <Line {...LINE} dataKey="due" name="Oldest" stroke={ACCENT} strokeWidth={1.75} />
          </LineChart>
        </ResponsiveContainer>
        <EndLabels
          top={scale.top}
          labels={[{ name: "oldest", seconds: last?.due ?? null, color: "var(--accent)" }]}
        />
      </div>
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
export function ServicePicture({ series, scale, zone }: PictureProps) {
  const rows = series.counts.map((point) => ({
    t: point.t,
    p50Ms: point.serviceP50Ms,
    p95Ms: point.serviceP95Ms,
    p50: onScale(point.serviceP50Ms),
    p95: onScale(point.serviceP95Ms),
  }));
  const last = rows.findLast((row) => row.p95 !== null);
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
              const row = rowOf<(typeof rows)[number]>(payload);
              if (!active || row === undefined || row.p95Ms === null) return NO_TICK;
              return (
                <ChartTip
                  t={row.t}
                  zone={zone}
                  rows={[
                    { name: "p95", value: formatAge(row.p95Ms) },
                    { name: "p50", value: formatAge(row.p50Ms) },
                  ]}
                />
              );
            }}
          />
          {annotationLines(series.annotations)}
          <Line {...LINE} dataKey="p50" name="p50" stroke={FAINT} strokeDasharray="1 3" strokeWidth={1.5} />
          <Line {...LINE} dataKey="p95" name="p95" stroke={MUTED} strokeDasharray="5 3" strokeWidth={1.5} />
        </LineChart>
      </ResponsiveContainer>
      <EndLabels
        top={scale.top}
        labels={[
          { name: "p95", seconds: last?.p95 ?? null, color: MUTED },
          { name: "p50", seconds: last?.p50 ?? null, color: FAINT },
        ]}
      />
    </div>
  );
}
