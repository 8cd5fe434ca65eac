"use client";
/**
 * How old the answers on this page are, told from the query cache. A page is as fresh as its oldest panel.
 * It must never call a page live because a single panel is.
 */
import { onlineManager, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { UnreachableError } from "#components/queries/fetch-json.ts";
import { STALE_AFTER_MS, useLiveSwitch } from "#components/queries/live.tsx";

export type Freshness =
  | { kind: "loading" }
  | { kind: "failed" }
  | { kind: "live" }
  | { kind: "paused"; ageSeconds: number }
  | { kind: "stale"; ageSeconds: number }
  | { kind: "offline" };

const TICK_MS = 1_000;

/** Looks at the active live queries once a second and whenever one of them changes. */
export function useFreshness(): Freshness {
  const client = useQueryClient();
  const { paused, refresh } = useLiveSwitch();
  const { staleAfterMs } = refresh;
  const [freshness, setFreshness] = useState<Freshness>({ kind: "loading" });

  useEffect(() => {
    const cache = client.getQueryCache();
    const look = () => {
      const active = cache.findAll({ predicate: (query) => query.meta?.live === true && query.isActive() });
      const next = judge(
        active.map((query) => query.state),
        paused,
        Date.now(),
        staleAfterMs,
      );
      setFreshness((before) => (same(before, next) ? before : next));
    };
    look();
    // Later, because the cache also tells of queries that another component begins while it renders.
    const unsubscribe = cache.subscribe(() => queueMicrotask(look));
    const timer = setInterval(look, TICK_MS);
    return () => {
      unsubscribe();
      clearInterval(timer);
    };
  }, [client, paused, staleAfterMs]);

  return freshness;
}

interface QueryAge {
  dataUpdatedAt: number;
  error: unknown;
}

/** The verdict over all active panels at `nowMs`; an answer older than `staleAfterMs` is stale. */
export function judge(
  queries: readonly QueryAge[],
  paused: boolean,
  nowMs: number,
  staleAfterMs = STALE_AFTER_MS,
): Freshness {
  if (queries.length === 0) return { kind: "loading" };
  if (!onlineManager.isOnline() || queries.some((query) => query.error instanceof UnreachableError)) {
    return { kind: "offline" };
  }
  const answered = queries.filter((query) => query.dataUpdatedAt > 0);
  if (answered.length === 0)
    return { kind: queries.some((query) => query.error !== null) ? "failed" : "loading" };
  const oldestMs = Math.min(...answered.map((query) => query.dataUpdatedAt));
  const ageSeconds = Math.max(0, Math.floor((nowMs - oldestMs) / 1_000));
  if (paused) return { kind: "paused", ageSeconds };
  return nowMs - oldestMs > staleAfterMs ? { kind: "stale", ageSeconds } : { kind: "live" };
}

function same(a: Freshness, b: Freshness): boolean {
  if (a.kind !== b.kind) return false;
  return !("ageSeconds" in a && "ageSeconds" in b) || a.ageSeconds === b.ageSeconds;
}

/** True when what is shown may no longer be so: paused, stale or offline. */
export function useBehind(): boolean {
  const { kind } = useFreshness();
  return kind === "stale" || kind === "offline" || kind === "paused";
}
