"use client";
/**
 * The pictures of counts: outcomes per minute, dead letters, attempts per delivery. A step in which nobody counted has no
 * bar and no area; a step with nothing in it lies on the floor.
 */
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import { formatCount, plural } from "#components/ui/format.ts";
import { END_BUCKETS, OUTCOME_GROUPS, type OutcomeGroup } from "#domain/series.ts";
import { endLabel, formatRate, formatRatio, OUTCOME_LABELS, outcomeRows } from "./chart-data.ts";
import {
  AnnotationMarks,
  AXIS_WIDTH_PX,
  barWidth,
  ChartTip,
  firstSize,
  MARGIN,
  PICTURE_PX,
  type PictureProps,
  SMALL_MARGIN,
  SMALL_PX,
  timeAxis,
} from "./chart-parts.tsx";

const GRID = <CartesianGrid stroke="var(--line)" vertical={false} />;
/** Room for the letters of a mark at the right end. */
const NARROW = { ...MARGIN, right: 22 };
const NOTHING = null;

/** The same colour for the same meaning everywhere; 5xx and blocked are hatched, so that no two differ by hue alone. */
const FILLS: Readonly<Record<OutcomeGroup, { color: string; hatch: boolean }>> = {
  delivered: { color: "var(--ok-mark)", hatch: false },
  rateLimited: { color: "var(--warn-mark)", hatch: false },
  permanent: { color: "var(--danger-mark)", hatch: false },
  serverError: { color: "var(--danger-mark)", hatch: true },
  network: { color: "var(--muted)", hatch: false },
  blocked: { color: "var(--held-mark)", hatch: true },
};

function fillOf(group: OutcomeGroup): string {
  return FILLS[group].hatch ? `url(#hatch-${group})` : FILLS[group].color;
}

function Hatches() {
  return (
    <defs>
      {OUTCOME_GROUPS.filter((group) => FILLS[group].hatch).map((group) => (
        <pattern
          key={group}
          id={`hatch-${group}`}
          width="4"
          height="4"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect width="4" height="4" fill="var(--surface)" />
          <rect width="2" height="4" fill={FILLS[group].color} />
        </pattern>
      ))}
    </defs>
  );
}

/** Counts on a linear axis from 0. */
function countAxis(top: number, format: (value: number) => string) {
  return (
    <YAxis
      domain={[0, top]}
      tickCount={4}
      tickFormatter={format}
      allowDataOverflow
      tickLine={false}
      axisLine={false}
      width={AXIS_WIDTH_PX}
    />
  );
}

/** Bars stand in the middle of their step, so that the first and the last are whole. */
function middled<T extends { t: number }>(rows: readonly T[], stepMs: number): (T & { begins: number })[] {
  return rows.map((row) => ({ ...row, t: row.t + stepMs / 2, begins: row.t }));
}

/** Stacked bars, delivered at the bottom. */
export function OutcomesPicture({ series, scale, zone }: PictureProps) {
  const rows = middled(outcomeRows(series), series.countStepMs);
  const size = barWidth(rows.length);
  return (
    <>
      <ResponsiveContainer width="100%" height={PICTURE_PX} initialDimension={firstSize(PICTURE_PX)}>
        <BarChart data={rows} margin={NARROW}>
          <Hatches />
          {GRID}
          {timeAxis(series, zone)}
          {countAxis(scale.perMinute, formatRate)}
          <Tooltip
            isAnimationActive={false}
            cursor={{ fill: "var(--hover)" }}
            content={({ active, payload }) => {
              const row = payload?.[0]?.payload as (typeof rows)[number] | undefined;
              if (!active || row === undefined || row.delivered === null) return NOTHING;
              return (
                <ChartTip
                  t={row.begins}
                  zone={zone}
                  rows={OUTCOME_GROUPS.map((group) => ({
                    name: OUTCOME_LABELS[group],
                    value: `${formatRate(row[group] ?? 0)} a minute`,
                  }))}
                />
              );
            }}
          />
          <AnnotationMarks series={series} />
          {OUTCOME_GROUPS.map((group) => (
            <Bar
              key={group}
              dataKey={group}
              name={OUTCOME_LABELS[group]}
              stackId="outcomes"
              fill={fillOf(group)}
              barSize={size}
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
      <OutcomeLegend />
    </>
  );
}

function OutcomeLegend() {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 pl-[52px] text-axis text-muted">
      {OUTCOME_GROUPS.map((group) => (
        <li key={group} className="inline-flex items-center gap-1.5">
          <svg width="10" height="10" aria-hidden="true">
            <rect width="10" height="10" fill={FILLS[group].hatch ? "var(--surface)" : FILLS[group].color} />
            {FILLS[group].hatch ? (
              <path d="M-1 5L5 -1M0 10L10 0M5 11L11 5" stroke={FILLS[group].color} strokeWidth="1.75" />
            ) : null}
          </svg>
          {OUTCOME_LABELS[group]}
        </li>
      ))}
    </ul>
  );
}

/** How many wait, as steps; what came and what went in bars on a panel of its own. */
export function DeadPicture(props: PictureProps) {
  return (
    <>
      {props.series.samples.length === 0 ? null : <DeadDepth {...props} />}
      <p className="pl-[52px] text-axis text-faint">In above the line, out below it</p>
      <DeadFlow {...props} />
    </>
  );
}

function DeadDepth({ series, scale, zone }: PictureProps) {
  return (
    <ResponsiveContainer width="100%" height={PICTURE_PX} initialDimension={firstSize(PICTURE_PX)}>
      <AreaChart data={series.samples} margin={NARROW}>
        {GRID}
        {timeAxis(series, zone)}
        {countAxis(scale.dead, formatCount)}
        <Tooltip
          isAnimationActive={false}
          cursor={{ stroke: "var(--line-strong)" }}
          content={({ active, payload }) => {
            const row = payload?.[0]?.payload as (typeof series.samples)[number] | undefined;
            if (!active || row === undefined || row.dead === null) return NOTHING;
            return (
              <ChartTip t={row.t} zone={zone} rows={[{ name: "Waiting", value: formatCount(row.dead) }]} />
            );
          }}
        />
        <AnnotationMarks series={series} />
        <Area
          type="stepAfter"
          dataKey="dead"
          stroke="var(--danger-mark)"
          strokeWidth={1.5}
          fill="var(--danger-soft)"
          dot={false}
          connectNulls={false}
          isAnimationActive={false}
        />
      </AreaChart>
    </ResponsiveContainer>
  );
}

function DeadFlow({ series, scale, zone }: PictureProps) {
  const flow = series.counts.map(({ t, deadIn, deadOut }) => ({
    t,
    deadIn,
    out: deadOut === null ? null : -deadOut,
  }));
  const rows = middled(flow, series.countStepMs);
  const bar = { stackId: "flow", isAnimationActive: false, barSize: barWidth(rows.length) } as const;
  return (
    <ResponsiveContainer width="100%" height={SMALL_PX} initialDimension={firstSize(SMALL_PX)}>
      <BarChart
        data={rows}
        margin={{ ...SMALL_MARGIN, right: NARROW.right }}
        stackOffset="sign"
        accessibilityLayer={false}
      >
        {timeAxis(series, zone, true)}
        <YAxis
          domain={[-scale.deadFlow, scale.deadFlow]}
          ticks={[-scale.deadFlow, 0, scale.deadFlow]}
          interval={0}
          tickFormatter={(value: number) => formatCount(Math.abs(value))}
          allowDataOverflow
          tickLine={false}
          axisLine={false}
          width={AXIS_WIDTH_PX}
        />
        <ReferenceLine y={0} stroke="var(--line-strong)" />
        <Bar {...bar} dataKey="deadIn" fill="var(--danger-mark)" />
        <Bar {...bar} dataKey="out" fill="var(--muted)" />
      </BarChart>
    </ResponsiveContainer>
  );
}

/** Deliveries by their attempts; on the same axis of attempts the amplification with its reference and its alert line. */
export function EndsPicture({ series, scale }: PictureProps) {
  const rows = series.ends.counts.map((count, index) => ({ attempts: index + 1, count }));
  const { now, reference, alert } = series.amplification;
  return (
    <ResponsiveContainer width="100%" height={PICTURE_PX} initialDimension={firstSize(PICTURE_PX)}>
      <BarChart data={rows} margin={NARROW}>
        {GRID}
        <XAxis
          dataKey="attempts"
          type="number"
          domain={[0.5, END_BUCKETS + 0.5]}
          ticks={rows.map((row) => row.attempts)}
          tickFormatter={(value: number) => endLabel(value - 1, END_BUCKETS)}
          allowDataOverflow
          tickLine={false}
          axisLine={{ stroke: "var(--line-strong)" }}
        />
        {countAxis(scale.ends, formatCount)}
        <Tooltip
          isAnimationActive={false}
          cursor={{ fill: "var(--hover)" }}
          content={({ active, payload }) => {
            const row = payload?.[0]?.payload as (typeof rows)[number] | undefined;
            if (!active || row === undefined) return NOTHING;
            return (
              <p className="rounded-md border border-line bg-surface px-3 py-2 text-table shadow-overlay">
                {plural(row.count, "delivery", "deliveries")} with {endLabel(row.attempts - 1, END_BUCKETS)}{" "}
                {row.attempts === 1 ? "attempt" : "attempts"}
              </p>
            );
          }}
        />
        <Bar dataKey="count" fill="var(--line-strong)" barSize={22} isAnimationActive={false} />
        <ReferenceLine x={reference} stroke="var(--line-strong)" strokeDasharray="2 4" />
        <ReferenceLine
          x={alert}
          stroke="var(--danger-mark)"
          strokeDasharray="2 4"
          label={{ value: `alert ${alert}`, position: "insideTopLeft", fill: "var(--faint)", fontSize: 12 }}
        />
        {now === null ? null : (
          <ReferenceLine
            x={Math.min(now, END_BUCKETS + 0.5)}
            stroke="var(--accent-solid)"
            strokeWidth={1.75}
            label={{
              value: `now ${formatRatio(now)}`,
              position: "top",
              fill: "var(--accent)",
              fontSize: 12,
            }}
          />
        )}
      </BarChart>
    </ResponsiveContainer>
  );
}
