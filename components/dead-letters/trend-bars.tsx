/** Deaths by hour as bars, with the same in a sentence. Hours without one are a flat base line, not a gap: they are known. */
import { formatCount } from "#components/ui/format.ts";

const BAR_PX = 2;
const GAP_PX = 1;
const HEIGHT_PX = 20;
const LEAST_PX = 2;

export interface TrendBarsProps {
  /** Oldest hour first; the last one ends now. */
  values: readonly number[];
}

export function TrendBars({ values }: TrendBarsProps) {
  const highest = Math.max(1, ...values);
  const width = values.length * (BAR_PX + GAP_PX) - GAP_PX;
  return (
    <svg
      role="img"
      aria-label={trendSentence(values)}
      width={width}
      height={HEIGHT_PX}
      viewBox={`0 0 ${width} ${HEIGHT_PX}`}
      className="block"
    >
      <title>{trendSentence(values)}</title>
      {values.map((value, hour) => {
        const height = value === 0 ? 1 : Math.max(LEAST_PX, Math.round((value / highest) * HEIGHT_PX));
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its place.
            key={hour}
            x={hour * (BAR_PX + GAP_PX)}
            y={HEIGHT_PX - height}
            width={BAR_PX}
            height={height}
            fill={value === 0 ? "var(--line-strong)" : "var(--danger-mark)"}
          />
        );
      })}
    </svg>
  );
}

/** "312 in 24 h, 40 in the last hour". */
export function trendSentence(values: readonly number[]): string {
  const total = values.reduce((sum, value) => sum + value, 0);
  return `${formatCount(total)} in 24 h, ${formatCount(values.at(-1) ?? 0)} in the last hour`;
}
