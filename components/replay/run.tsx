"use client";
/** How far the batch is and how live work fares beside it: a bar of what became of its entries, tiles, and the curves. */
import dynamic from "next/dynamic";
import { useReplaySeries } from "#components/queries/replays.ts";
import { ITEM_STATE_WORDS, rateWords, shareWords } from "#components/replays/replay-words.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { cx } from "#components/ui/cx.ts";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusText, type Tone, ToneIcon, toneText } from "#components/ui/status.tsx";
import type { ReplayDetail, ReplaySeries } from "#db/console/replay/replay-views.ts";
import { formatAge, formatLength, NO_DATA } from "#domain/queue-age.ts";
import { isEnded, type ReplayItemState } from "#domain/replay.ts";
import { lastValue } from "./curve-data.ts";
import type { Seen } from "./seen.ts";

const Curves = dynamic(() => import("./curves.tsx"), {
  ssr: false,
  loading: () => <Skeleton className="h-96 w-full" />,
});

export function Run({ region, view, asOf }: Seen) {
  const stale = useBehind();
  const query = useReplaySeries(region, view.id);
  const series = query.data?.status === "ok" ? query.data.data : null;
  return (
    <>
      <Panel title="Progress" stale={stale}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <Progress view={view} />
          {isEnded(view.state) ? null : <Tiles view={view} series={series} asOf={asOf} />}
        </div>
      </Panel>
      <Panel title="Curves" note="since the start" stale={stale}>
        {series !== null ? (
          <Curves series={series} region={region} lanes={view.lanes} />
        ) : query.data?.status === "unavailable" ? (
          <p className="text-muted">{query.data.detail}</p>
        ) : query.error !== null ? (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} compact />
        ) : (
          <Skeleton className="h-96 w-full" />
        )}
      </Panel>
    </>
  );
}

/** In the order of the bar. */
const PARTS: readonly { states: readonly ReplayItemState[]; label: string; className: string }[] = [
  { states: ["delivered"], label: ITEM_STATE_WORDS.delivered.label, className: "bg-ok-mark" },
  { states: ["released"], label: ITEM_STATE_WORDS.released.label, className: "bg-accent-solid" },
  { states: ["dead_again"], label: ITEM_STATE_WORDS.dead_again.label, className: "bg-danger-mark" },
  { states: ["skipped", "recalled"], label: "Skipped or recalled", className: "bg-warn-mark" },
  { states: ["frozen", "not_released"], label: "Not released", className: "bg-line-strong" },
];

function Progress({ view }: { view: ReplayDetail }) {
  const total = Math.max(1, view.items);
  const parts = PARTS.map((part) => ({
    ...part,
    count: part.states.reduce((sum, state) => sum + view.counts[state], 0),
  }));
  return (
    <div className="grid gap-2">
      <p className="font-semibold text-figure tracking-tight">{view.progress}</p>
      <div
        role="progressbar"
        aria-label="Delivered entries of the batch"
        aria-valuemin={0}
        aria-valuemax={view.items}
        aria-valuenow={view.counts.delivered}
        aria-valuetext={view.progress}
        className="flex h-3 w-full overflow-hidden rounded-full bg-subtle"
      >
        {parts.map(({ label, className, count }) =>
          count === 0 ? null : (
            <span key={label} className={className} style={{ width: `${(count / total) * 100}%` }} />
          ),
        )}
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-table">
        {parts.map(({ label, className, count }) => (
          <li key={label} className="inline-flex items-center gap-1.5">
            <span aria-hidden="true" className={cx("size-2.5 rounded-sm", className)} />
            {label} {formatCount(count)}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface TileProps {
  label: string;
  value: string;
  note: string;
  tone?: Tone;
}

function Tile({ label, value, note, tone = "neutral" }: TileProps) {
  return (
    <div className="min-w-0 bg-surface px-3 py-2">
      <dt className="text-faint text-table">{label}</dt>
      <dd>
        <span
          className={cx("flex items-center gap-1.5 font-semibold", tone === "neutral" ? "" : toneText(tone))}
        >
          {tone === "neutral" ? null : <ToneIcon tone={tone} className="size-3.5" />}
          {value}
        </span>
        <span className="block text-muted text-table">{note}</span>
      </dd>
    </div>
  );
}

function holdWords(endsAt: string, asOf: string): string {
  return Date.parse(endsAt) <= Date.parse(asOf)
    ? "The canary's hold is over: a person lets it go on. "
    : `The canary's hold ends ${relativeTo(endsAt, asOf)}. `;
}

function Tiles({ view, series, asOf }: { view: ReplayDetail; series: ReplaySeries | null; asOf: string }) {
  const read = (pick: Parameters<typeof lastValue>[1]) => (series === null ? null : lastValue(series, pick));
  const firstMs = read((point) => point.firstAttemptAgeMs);
  const dueMs = read((point) => point.dueLagMs);
  const perMinute = series?.points.at(-1)?.perMinute ?? null;
  const red = view.conditions.filter(({ breached }) => breached).length;
  return (
    <>
      <dl className="grid gap-px overflow-hidden rounded-md border border-line bg-line sm:grid-cols-2 lg:grid-cols-4">
        <Tile
          label="Rate now"
          value={perMinute === null ? NO_DATA : rateWords(perMinute / 60)}
          note={`at most ${rateWords(view.ratePerSecond)}${view.rampShare === null ? "" : `, ramp at ${shareWords(view.rampShare)}`}`}
        />
        <Tile
          label="Oldest first attempt in the region"
          value={formatAge(firstMs)}
          note="live work, which goes before"
        />
        <Tile
          label="Oldest due but unclaimed"
          value={formatAge(dueMs)}
          note={`pauses above ${formatLength(view.plan.stop.dueLagMs)}`}
          tone={dueMs !== null && dueMs > view.plan.stop.dueLagMs ? "danger" : "neutral"}
        />
        <Tile
          label="Stop conditions"
          value={red === 0 ? "All green" : `${red} red`}
          note={
            view.turnAgeMs === null ? "no turn yet" : `runner's last turn ${formatAge(view.turnAgeMs)} ago`
          }
          tone={red === 0 ? "ok" : "danger"}
        />
      </dl>
      <ul className="grid gap-0.5 text-table">
        {view.conditions
          .filter(({ breached }) => breached)
          .map(({ condition, text }) => (
            <li key={condition}>
              <StatusText tone="danger" label={text} wrap />
            </li>
          ))}
      </ul>
      <p className="text-muted text-table">
        {view.estimate === null || view.state === "canary_hold"
          ? null
          : `About ${formatAge(view.estimate.leftMs)} left at full rate. `}
        {view.holdEndsAt === null ? null : holdWords(view.holdEndsAt, asOf)}
        {view.rampNextAt === null
          ? null
          : `The next part of the rate comes ${relativeTo(view.rampNextAt, asOf)}.`}
      </p>
    </>
  );
}
