"use client";
/** Says how fresh the page is, and pauses or resumes live updates. */
import { useQueryClient } from "@tanstack/react-query";
import { Pause, Play, RotateCw } from "lucide-react";
import { POLL_MS, useLiveSwitch } from "#components/queries/live.tsx";
import { Button, IconButton } from "#components/ui/button.tsx";
import { cx } from "#components/ui/cx.ts";
import { type Freshness, useFreshness } from "./freshness.ts";

const DOTS: Record<Freshness["kind"], string> = {
  loading: "border border-line-strong",
  failed: "bg-danger-mark",
  live: "bg-ok-mark",
  paused: "stripes border border-held-mark",
  stale: "bg-warn-mark",
  offline: "bg-danger-mark",
};

function words(freshness: Freshness): string {
  switch (freshness.kind) {
    case "loading":
      return "Reading";
    case "failed":
      return "Not read";
    case "live":
      return `Live ${POLL_MS / 1_000} s`;
    case "paused":
      return `Paused ${freshness.ageSeconds} s`;
    case "stale":
      return `Stale ${freshness.ageSeconds} s`;
    case "offline":
      return "Offline";
  }
}

/** The pill is a switch: pressed means paused. A paused or stale page can be read once by hand. */
export function FreshnessPill() {
  const freshness = useFreshness();
  const { paused, setPaused } = useLiveSwitch();
  const client = useQueryClient();
  const Icon = paused ? Play : Pause;
  const behind = freshness.kind === "paused" || freshness.kind === "stale" || freshness.kind === "offline";

  function toggle() {
    if (paused) void client.refetchQueries({ type: "active" });
    setPaused(!paused);
  }

  return (
    <span className="inline-flex items-center gap-1">
      {behind ? (
        <IconButton label="Read once now" onClick={() => void client.refetchQueries({ type: "active" })}>
          <RotateCw aria-hidden="true" className="size-3.5" />
        </IconButton>
      ) : null}
      <Button
        onClick={toggle}
        pressed={paused}
        label={`${words(freshness)}. ${paused ? "Resume" : "Pause"} live updates`}
        size="pill"
      >
        <span
          aria-hidden="true"
          className={cx(
            "size-2 rounded-full",
            DOTS[freshness.kind],
            freshness.kind === "live" && "animate-live",
          )}
        />
        <span
          className={cx(
            freshness.kind === "stale" && "text-warn",
            (freshness.kind === "offline" || freshness.kind === "failed") && "text-danger",
          )}
        >
          {words(freshness)}
        </span>
        <Icon aria-hidden="true" className="size-3 text-faint" />
      </Button>
    </span>
  );
}
