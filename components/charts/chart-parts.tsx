"use client";
/** What all pictures share: the time axis, objective lines, lines of what people did, labels at line ends, the tooltip. */
import { memo, type ReactNode } from "react";
import { ReferenceArea, ReferenceLine, usePlotArea, XAxis, YAxis } from "recharts";
import { formatInstant, type Zone, zoneName } from "#components/ui/format.ts";
import type { Annotation, Series } from "#db/console/read-series.ts";
import { type Mark, type MarkedSpan, marksOf } from "./annotation-marks.ts";
import {
  ageTickLabel,
  ageTicks,
  type ChartScale,
  endLabels,
  FLOOR_SECONDS,
  timeTickLabel,
  timeTicks,
} from "./chart-scale.ts";

/** Height of a picture, and of the small one under it. */
export const PICTURE_PX = 176;
export const SMALL_PX = 80;
const TIME_AXIS_PX = 30;
const TOP_PX = 14;
/** Room for the labels at the ends of lines. */
const END_PX = 76;
const LABEL_GAP_PX = 14;
export const MARGIN = { top: TOP_PX, right: END_PX, bottom: 0, left: 0 };
/** Inside the small picture, so that its first and last tick are whole. */
export const SMALL_MARGIN = { ...MARGIN, top: 8, bottom: 8 };
export const AXIS_WIDTH_PX = 52;
/** Used until the width is known, so that nothing is drawn at size -1. */
export const firstSize = (height: number) => ({ width: 520, height });
export const LINE = { dot: false, isAnimationActive: false, connectNulls: false, type: "linear" } as const;
/** Of a picture on a narrow screen: used until the width is known, so that no mark covers another before. */
const LEAST_PLOT_PX = 130;

export interface PictureProps {
  series: Series;
  scale: ChartScale;
  zone: Zone;
}

/** The axis of time over the whole range, ticks also inside gaps. Called as a function: recharts looks at its children. */
export function timeAxis(series: Series, zone: Zone, hidden = false) {
  const { fromMs, toMs } = series;
  return (
    <XAxis
      dataKey="t"
      type="number"
      scale="time"
      domain={[fromMs, toMs]}
      ticks={timeTicks(fromMs, toMs)}
      tickFormatter={(ms: number) => timeTickLabel(ms, zone, toMs - fromMs)}
      allowDataOverflow
      tickLine={false}
      tick={!hidden}
      height={hidden ? 1 : TIME_AXIS_PX}
      axisLine={{ stroke: "var(--line-strong)" }}
    />
  );
}

/** Seconds on a logarithmic scale. */
export function ageAxis(top: number) {
  return (
    <YAxis
      type="number"
      scale="log"
      domain={[FLOOR_SECONDS, top]}
      ticks={ageTicks(top)}
      tickFormatter={ageTickLabel}
      interval={0}
      allowDataOverflow
      tickLine={false}
      axisLine={false}
      width={AXIS_WIDTH_PX}
    />
  );
}

export interface ObjectiveProps {
  name: string;
  ms: number;
  tone: "danger" | "warn";
  /** The upper of two near lines is labelled above, the lower one below, so that the two never cover each other. */
  below?: boolean;
}

/** An objective as a labelled line. */
export function Objective({ name, ms, tone, below = false }: ObjectiveProps) {
  const seconds = ms / 1_000;
  return (
    <ReferenceLine
      y={seconds}
      stroke={`var(--${tone}-mark)`}
      strokeDasharray="2 4"
      label={{
        value: `${name} ${ageTickLabel(seconds)}`,
        position: below ? "insideTopLeft" : "insideBottomLeft",
        fill: "var(--faint)",
        fontSize: 12,
      }}
    />
  );
}

/**
 * One thin vertical line for each thing that people did, and above it its letter in the list below the charts. Where letters
 * would cover each other, one mark stands for all of them, over a band from the first to the last.
 */
export function AnnotationMarks({ series: { annotations, fromMs, toMs } }: { series: Series }) {
  const widthPx = Math.round(usePlotArea()?.width ?? LEAST_PLOT_PX);
  return <Marks annotations={annotations} fromMs={fromMs} toMs={toMs} widthPx={widthPx} />;
}

interface MarksProps extends MarkedSpan {
  annotations: readonly Annotation[];
}

/** Drawn anew only for another width or other annotations: each line of the chart library reports itself when it is drawn. */
const Marks = memo(function Marks({ annotations, ...span }: MarksProps) {
  const times = annotations.map(({ t }) => t);
  return (
    <>
      {annotations.map(({ id, t }) => (
        <ReferenceLine key={id} x={t} stroke="var(--held-mark)" strokeDasharray="1 2" />
      ))}
      {marksOf(times, span).map((mark) => (
        <ReferenceArea
          key={mark.label}
          x1={mark.fromMs}
          x2={mark.toMs}
          fill="var(--held-mark)"
          fillOpacity={0.12}
          label={markLabel(mark)}
        />
      ))}
    </>
  );
});

function markLabel({ label }: Mark) {
  return { value: label, position: "top" as const, fill: "var(--held)", fontSize: 12, fontWeight: 600 };
}

export interface EndLabel {
  name: string;
  /** The last value in seconds on the scale; null where the line does not reach the end. */
  seconds: number | null;
  color: string;
}

/** Names at the ends of the lines, moved apart where they would cover each other. */
export function EndLabels({ labels, top }: { labels: readonly EndLabel[]; top: number }) {
  const height = PICTURE_PX - TOP_PX - TIME_AXIS_PX;
  const places = endLabels(
    labels.map((label) => label.seconds),
    { top, height, gap: LABEL_GAP_PX },
  );
  return labels.map((label, index) => {
    const y = places[index];
    if (y === null || y === undefined) return null;
    return (
      <span
        key={label.name}
        aria-hidden="true"
        className="-translate-y-1/2 pointer-events-none absolute right-0 truncate text-axis"
        style={{ top: TOP_PX + y, width: END_PX - 6, color: label.color }}
      >
        {label.name}
      </span>
    );
  });
}

/** The exact values of one moment. */
export function ChartTip({
  t,
  zone,
  rows,
}: {
  t: number;
  zone: Zone;
  rows: readonly { name: string; value: ReactNode }[];
}) {
  const iso = new Date(t).toISOString();
  return (
    <dl className="grid grid-cols-[auto_auto] gap-x-4 rounded-md border border-line bg-surface px-3 py-2 text-table shadow-overlay">
      <dt className="col-span-2 text-faint">
        {formatInstant(iso, zone)} {zoneName(zone, iso)}
      </dt>
      {rows.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="text-right font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Width of a bar of a step, from the width that most screens give. */
export function barWidth(points: number): number {
  return Math.max(2, Math.min(16, Math.floor(380 / Math.max(1, points))));
}
