"use client";
/**
 * Both ages of one region over time. Gaps in the samples are gaps in the lines; nothing is animated, so that a poll changes
 * the picture and nothing else. The same numbers stand in the table beside it.
 */
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
import { useZone } from "#components/ui/zone.tsx";
import type { AgeSeries } from "#db/console/read-age-series.ts";
import { ageTickLabel, ageTicks, drawn, FLOOR_SECONDS, timeTickLabel, timeTicks } from "./age-scale.ts";
import { AgeTooltip } from "./age-tooltip.tsx";

const HEIGHT_PX = 224;
const MARGIN = { top: 12, right: 12, bottom: 0, left: 0 };
/** Used until the width is known, so that nothing is drawn at size -1. */
const FIRST_SIZE = { width: 520, height: HEIGHT_PX };
const LINE = { dot: false, isAnimationActive: false, connectNulls: false } as const;

export interface AgeChartProps {
  series: AgeSeries;
  /** The top of the scale in seconds, shared by all charts of the page. */
  top: number;
  /** One sentence with the latest values, read aloud for the picture. */
  summary: string;
}

/** Solid accent: first attempt. Dashed neutral: due, unclaimed. */
export default function AgeChart({ series, top, summary }: AgeChartProps) {
  const zone = useZone();
  return (
    <section aria-label={summary}>
      <ResponsiveContainer width="100%" height={HEIGHT_PX} initialDimension={FIRST_SIZE}>
        <LineChart data={drawn(series.points)} margin={MARGIN}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="t"
            type="number"
            scale="time"
            domain={[series.fromMs, series.toMs]}
            ticks={timeTicks(series.fromMs, series.toMs)}
            tickFormatter={(ms: number) => timeTickLabel(ms, zone)}
            allowDataOverflow
            tickLine={false}
            axisLine={{ stroke: "var(--line-strong)" }}
          />
          <YAxis
            type="number"
            scale="log"
            domain={[FLOOR_SECONDS, top]}
            ticks={ageTicks(top)}
            tickFormatter={ageTickLabel}
            allowDataOverflow
            tickLine={false}
            axisLine={false}
            width={48}
          />
          <Tooltip
            isAnimationActive={false}
            cursor={{ stroke: "var(--line-strong)" }}
            content={({ active, payload }) => <AgeTooltip active={active} payload={payload} zone={zone} />}
          />
          <Objective
            name="First attempt target"
            ms={series.objectives.routine.firstAttemptTargetMs}
            tone="danger"
          />
          <Objective name="Due limit" ms={series.dueLag.pageMs} tone="warn" />
          <Line
            {...LINE}
            dataKey="dueDrawn"
            name="Due, unclaimed"
            stroke="var(--muted)"
            strokeDasharray="5 3"
          />
          <Line
            {...LINE}
            dataKey="firstDrawn"
            name="First attempt"
            stroke="var(--accent-solid)"
            strokeWidth={1.75}
          />
        </LineChart>
      </ResponsiveContainer>
    </section>
  );
}

interface ObjectiveProps {
  name: string;
  ms: number;
  tone: "danger" | "warn";
}

/** The upper line is labelled above it, the lower one below, so that the two never cover each other. */
function Objective({ name, ms, tone }: ObjectiveProps) {
  const seconds = ms / 1_000;
  return (
    <ReferenceLine
      y={seconds}
      stroke={`var(--${tone}-mark)`}
      strokeDasharray="2 4"
      label={{
        value: `${name} ${ageTickLabel(seconds)}`,
        position: tone === "danger" ? "insideBottomLeft" : "insideTopLeft",
        fill: "var(--faint)",
        fontSize: 12,
      }}
    />
  );
}
