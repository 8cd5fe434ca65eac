/**
 * A trend without axes, small enough for a tile or a row. It is drawn without a chart library; its label says the latest
 * value in words. A gap in the values is a gap in the line.
 */
import { cx } from "#components/ui/cx.ts";

const WIDTH = 100;
const HEIGHT = 24;
/** Keeps the stroke inside the picture. */
const EDGE = 2;

export interface SparklineProps {
  /** Oldest first; null is a gap, never a zero. */
  values: readonly (number | null)[];
  /** A sentence with the latest value: what a screen reader gets in place of the line. */
  label: string;
  className?: string;
}

/** Fills the width of its parent, 24 px high. Nothing where there is no value at all. */
export function Sparkline({ values, label, className }: SparklineProps) {
  const path = pathOf(values);
  if (path === "") return <span className={cx("block h-6", className)} />;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={cx("block h-6 w-full", className)}
    >
      <path
        d={path}
        fill="none"
        stroke="var(--muted)"
        strokeWidth="1.25"
        strokeLinecap="round"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

/** The line from 0 to the greatest value; a single value between two gaps is a dot. */
export function pathOf(values: readonly (number | null)[]): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const parts: string[] = [];
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const x = round(index * step);
    const y = round(HEIGHT - EDGE - (most === 0 ? 0 : (value / most) * (HEIGHT - 2 * EDGE)));
    const opens = index === 0 || values[index - 1] === null;
    const alone = opens && (index === values.length - 1 || values[index + 1] === null);
    parts.push(`${opens ? "M" : "L"}${x} ${y}${alone ? "h0" : ""}`);
  }
  return parts.join("");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
