"use client";
/** Says how fresh the page is, and pauses or resumes live updates. */
import { Pause, Play, RotateCw } from "lucide-react";
import { useLiveSwitch } from "#components/queries/live.tsx";
import { type Refresh, refreshWords } from "#components/queries/refresh.ts";
import { Button, IconButton } from "#components/ui/button.tsx";
import { cx } from "#components/ui/cx.ts";
import { usePreference } from "#components/ui/preferences.ts";
import { coarseAge } from "./banner-lines.ts";
import { type Freshness, useFreshness } from "./freshness.ts";
import { RefreshMenu } from "./refresh-menu.tsx";

const SECOND_MS = 1_000;
const DOTS: Record<Freshness["kind"], string> = {
  loading: "border border-line-strong",
  failed: "bg-danger-mark",
  live: "bg-ok-mark",
  paused: "stripes border border-held-mark",
  stale: "bg-warn-mark",
  offline: "bg-danger-mark",
};

function words(freshness: Freshness, refresh: Refresh): string {
  switch (freshness.kind) {
    case "loading":
      return "Reading";
    case "failed":
      return "Not read";
    case "live":
      return refreshWords(refresh);
    case "paused":
      return `Paused ${coarseAge(freshness.ageSeconds * SECOND_MS)}`;
    case "stale":
      return `Stale ${coarseAge(freshness.ageSeconds * SECOND_MS)}`;
    case "offline":
      return "Offline";
  }
}

/** The pill is a switch: pressed means paused. A paused or stale page can be read once by hand. */
export function FreshnessPill() {
  const freshness = useFreshness();
  const { paused, refresh, toggle, readNow } = useLiveSwitch();
  const calm = usePreference("calm") === "on";
  const said = words(freshness, refresh);
  const Icon = paused ? Play : Pause;
  const behind = freshness.kind === "paused" || freshness.kind === "stale" || freshness.kind === "offline";
  return (
    <span className="inline-flex items-center gap-1">
      {behind ? (
        <IconButton label="Read once now" onClick={readNow}>
          <RotateCw aria-hidden="true" className="size-3.5" />
        </IconButton>
      ) : null}
      <Button
        onClick={toggle}
        pressed={paused}
        label={`${said}. ${paused ? "Resume" : "Pause"} live updates`}
        size="pill"
      >
        <span
          aria-hidden="true"
          className={cx(
            "size-2 rounded-full",
            DOTS[freshness.kind],
            freshness.kind === "live" && !calm && "animate-live",
          )}
        />
        <span
          className={cx(
            freshness.kind === "stale" && "text-warn",
            (freshness.kind === "offline" || freshness.kind === "failed") && "text-danger",
          )}
        >
          {said}
        </span>
        <Icon aria-hidden="true" className="size-3 text-faint" />
      </Button>
      <span className="contents max-sm:hidden">
        <RefreshMenu />
      </span>
    </span>
  );
}
