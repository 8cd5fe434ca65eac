"use client";
/**
 * Live updates: every panel polls through `useLive`, so that one pause stops polling, focus refetch and
 * reconnect refetch alike. A hidden tab stops by itself.
 */
import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  type UseQueryResult,
  useQuery,
} from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { setPreference, usePreference } from "#components/ui/preferences.ts";
import { fetchJson, ProblemError } from "./fetch-json.ts";
import { POLL_MS, type Refresh, type RefreshChoice, refreshOf } from "./refresh.ts";

export { POLL_MS };
/** Answers of a live page that are older than this are called stale. */
export const STALE_AFTER_MS = refreshOf("live").staleAfterMs;

interface Live {
  /** True when nothing polls: paused for now, or switched off in the menu. */
  paused: boolean;
  refresh: Refresh;
  /** Pauses, or resumes and reads at once. Resuming what was switched off makes it live. */
  toggle: () => void;
  /** Chooses how often pages read; kept in this browser. */
  choose: (choice: RefreshChoice) => void;
  /** Reads everything on the page once. */
  readNow: () => void;
}

const LiveContext = createContext<Live>({
  paused: false,
  refresh: refreshOf("live"),
  toggle: () => {},
  choose: () => {},
  readNow: () => {},
});

/** Holds the query cache and whether live updates are paused. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [client] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { retry: false } },
        queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
      }),
  );
  const live = useLiveState(client);
  return (
    <QueryClientProvider client={client}>
      <LiveContext value={live}>{children}</LiveContext>
    </QueryClientProvider>
  );
}

function useLiveState(client: QueryClient): Live {
  const choice = usePreference("refresh");
  const refresh = useMemo(() => refreshOf(choice), [choice]);
  const [pausedNow, setPausedNow] = useState(false);
  const off = refresh.choice === "off";
  const paused = pausedNow || off;
  const readNow = useCallback(() => void client.refetchQueries({ type: "active" }), [client]);
  return useMemo(
    () => ({
      paused,
      refresh,
      readNow,
      toggle: () => {
        if (paused) readNow();
        if (off) setPreference("refresh", "live");
        setPausedNow(!paused);
      },
      choose: (next) => {
        if (paused && next !== "off") readNow();
        setPreference("refresh", next);
        setPausedNow(false);
      },
    }),
    [paused, refresh, readNow, off],
  );
}

/** A session that has ended leads to the sign-in, and from there back to this very page. */
function leaveWhenSignedOut(error: Error): void {
  if (!(error instanceof ProblemError) || error.problem.code !== "unauthenticated") return;
  const { pathname, search } = window.location;
  const query = new URLSearchParams({ reason: "expired", next: `${pathname}${search}` });
  window.location.assign(`/login?${query}`);
}

/** Whether and how often pages read, and the switches. */
export function useLiveSwitch(): Live {
  return useContext(LiveContext);
}

/**
 * Polls one API path. The path is the cache key, so that the same question is asked once however many panels show it.
 * Old data stays while a new filter loads (`isPlaceholderData`) and when a read fails.
 */
export function useLive<T>(path: string, enabled = true): UseQueryResult<T, Error> {
  const { paused, refresh } = useLiveSwitch();
  return useQuery<T, Error>({
    queryKey: ["live", path],
    queryFn: ({ signal }) => fetchJson<T>(path, signal),
    enabled,
    meta: { live: true },
    placeholderData: keepPreviousData,
    refetchInterval: paused ? false : refresh.intervalMs,
    refetchOnWindowFocus: !paused && refresh.onFocus,
    refetchOnReconnect: !paused,
    staleTime: POLL_MS / 2,
  });
}

/** Reads one API path when it is first needed and keeps the answer; for names, not for numbers. */
export function useOnce<T>(path: string, enabled = true): UseQueryResult<T, Error> {
  return useQuery<T, Error>({
    queryKey: ["once", path],
    queryFn: ({ signal }) => fetchJson<T>(path, signal),
    enabled,
    staleTime: 60_000,
  });
}
