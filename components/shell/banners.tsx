"use client";
/**
 * The lines under the top bar: what is held on purpose, whether the page is old, and a clock that is off. They stay while
 * they are true; nobody can close them, because the next person on this screen must see them too.
 */
import { CircleAlert, Clock, type LucideIcon, OctagonX, PauseCircle, WifiOff } from "lucide-react";
import Link from "next/link";
import { useEffect, useRef, useState } from "react";
import { useLiveSwitch } from "#components/queries/live.tsx";
import { useClockSkewMs } from "#components/queries/server-clock.ts";
import { useActiveControls } from "#components/queries/shell.ts";
import { cx } from "#components/ui/cx.ts";
import { useZone } from "#components/ui/zone.tsx";
import { useAnnounce } from "./announcer.tsx";
import { type BannerLine, bannerLines, coarseAge } from "./banner-lines.ts";
import { type Freshness, useFreshness } from "./freshness.ts";

type Line = Omit<BannerLine, "tone"> & { tone: BannerLine["tone"] | "neutral"; icon: LucideIcon };

const TONES: Record<Line["tone"], string> = {
  danger: "bg-danger-soft text-danger",
  warn: "bg-warn-soft text-warn",
  held: "stripes text-held",
  neutral: "bg-subtle text-muted",
};
const ICONS: Record<BannerLine["tone"], LucideIcon> = {
  danger: OctagonX,
  warn: CircleAlert,
  held: PauseCircle,
};
/** More lines than this wait behind a button, so that the bars never cover the page. */
const SHOWN_LINES = 3;

/** Nothing when there is nothing to say. */
export function Banners() {
  const controls = useActiveControls();
  const freshness = useFreshness();
  const skewMs = useClockSkewMs();
  const zone = useZone();
  const held = controls.data === undefined ? [] : bannerLines(controls.data, zone);
  useReminders(held, controls.data !== undefined);
  const lines: Line[] = [
    ...freshnessLine(freshness),
    ...held.map((line) => ({ ...line, icon: ICONS[line.tone] })),
    ...skewLine(skewMs),
  ];
  return lines.length === 0 ? null : <Lines lines={lines} />;
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const [all, setAll] = useState(false);
  const { readNow } = useLiveSwitch();
  const more = lines.length - SHOWN_LINES;
  return (
    <section aria-label="Notices" data-testid="banners">
      <ul>
        {lines.map((line, index) => (
          <li
            key={line.key}
            className={cx(
              "items-center gap-2 border-line border-b px-4 py-1 text-table md:px-8",
              TONES[line.tone],
              all || index < SHOWN_LINES ? "flex" : "hidden",
              // On a phone one line is enough; the others are one press away.
              !all && index > 0 && "max-md:hidden",
            )}
          >
            <line.icon aria-hidden="true" className="size-3.5 shrink-0" strokeWidth={2.25} />
            <span className="min-w-0 md:truncate" title={line.text}>
              {line.text}
            </span>
            {line.link === null ? null : (
              <Link
                href={line.link.href}
                prefetch={false}
                className="ml-auto inline-flex min-h-6 shrink-0 items-center font-medium underline underline-offset-4 max-md:min-h-11"
              >
                {line.link.label}
              </Link>
            )}
            {line.key === "freshness" ? (
              <button
                type="button"
                onClick={readNow}
                className="ml-auto min-h-6 shrink-0 font-medium underline underline-offset-4 max-md:min-h-11"
              >
                Try again
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {lines.length > 1 ? (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className={cx(
            "min-h-6 w-full border-line border-b bg-surface px-4 text-left text-muted text-table max-md:min-h-11 md:px-8",
            more <= 0 && "md:hidden",
          )}
        >
          {all ? "Show fewer notices" : <MoreWords wide={more} narrow={lines.length - 1} />}
        </button>
      ) : null}
    </section>
  );
}

function MoreWords({ wide, narrow }: { wide: number; narrow: number }) {
  return (
    <>
      <span className="max-md:hidden">{wide} more</span>
      <span className="md:hidden">{narrow} more</span>
    </>
  );
}

/** Reads a line aloud when it comes, and again when its step changes. At first only the gravest: the page has just been opened. */
function useReminders(lines: readonly BannerLine[], known: boolean): void {
  const announce = useAnnounce();
  const said = useRef<ReadonlyMap<string, string> | null>(null);
  useEffect(() => {
    const before = said.current;
    if (!known) return;
    for (const { key, step, text, tone } of lines) {
      const isNew = before === null ? tone === "danger" : before.get(key) !== step;
      if (isNew) announce(key, text);
    }
    said.current = new Map(lines.map(({ key, step }) => [key, step]));
  });
}

function freshnessLine(freshness: Freshness): Line[] {
  const shared = { key: "freshness", link: null, step: freshness.kind };
  if (freshness.kind === "offline") {
    return [
      {
        ...shared,
        tone: "danger",
        icon: WifiOff,
        text: "The console does not answer. What you see may no longer be so. Deliveries go on without it.",
      },
    ];
  }
  if (freshness.kind !== "stale") return [];
  return [
    {
      ...shared,
      tone: "warn",
      icon: CircleAlert,
      text: `A part of this page is ${coarseAge(freshness.ageSeconds * 1_000)} old. It is read again by itself.`,
    },
  ];
}

function skewLine(skewMs: number): Line[] {
  if (skewMs === 0) return [];
  const words = `${coarseAge(Math.abs(skewMs))} ${skewMs > 0 ? "ahead of" : "behind"}`;
  return [
    {
      key: "skew",
      tone: "neutral",
      icon: Clock,
      text: `This computer's clock is ${words} the server's. All ages and times here are the server's.`,
      link: null,
      step: "skew",
    },
  ];
}
