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

export const CHART_HEIGHT_PX = 224;
const MARGIN = { top: 12, right: 12, bottom: 0, left: 0 };
const LABEL_STYLE = { fill: "var(--faint)", fontSize: 12 };

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
  const target = series.objectives.routine.firstAttemptTargetMs / 1_000;
  const duePage = series.dueLag.pageMs / 1_000;
  return (
    <div role="img" aria-label={summary}>
      <ResponsiveContainer
        width="100%"
        height={CHART_HEIGHT_PX}
        initialDimension={{ width: 520, height: CHART_HEIGHT_PX }}
      >
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
          <ReferenceLine
            y={target}
            stroke="var(--danger-mark)"
            strokeDasharray="2 4"
            label={{
              value: `First attempt target ${ageTickLabel(target)}`,
              position: "insideBottomLeft",
              ...LABEL_STYLE,
            }}
          />
          <ReferenceLine
            y={duePage}
            stroke="var(--warn-mark)"
            strokeDasharray="2 4"
            label={{ value: `Due limit ${ageTickLabel(duePage)}`, position: "insideTopLeft", ...LABEL_STYLE }}
          />
          <Line
            dataKey="dueDrawn"
            name="Due, unclaimed"
            stroke="var(--muted)"
            strokeDasharray="5 3"
            strokeWidth={1.5}
            dot={false}
            isAnimationActive={false}
            connectNulls={false}
          />
          <Line
            dataKey="firstDrawn"
            name="First attempt"
            stroke="var(--accent-solid)"
            strokeWidth={1.75}
            dot={false}
            isAnimationActive={false}
            connectNulls={false}
          />
        </LineChart>
      </ResponsiveContainer>
    </div>
  );
}
