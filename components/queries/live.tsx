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
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { fetchJson, ProblemError } from "./fetch-json.ts";

/** How often a page reads again. */
export const POLL_MS = 5_000;
/** Answers older than this are called stale. */
export const STALE_AFTER_MS = 3 * POLL_MS;

interface Live {
  paused: boolean;
  setPaused: (paused: boolean) => void;
}

const LiveContext = createContext<Live>({ paused: false, setPaused: () => {} });

/** Holds the query cache and whether live updates are paused. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const [client] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { retry: false } },
        queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
      }),
  );
  const [paused, setPaused] = useState(false);
  const live = useMemo(() => ({ paused, setPaused }), [paused]);
  return (
    <QueryClientProvider client={client}>
      <LiveContext value={live}>{children}</LiveContext>
    </QueryClientProvider>
  );
}

/** A session that has ended leads to the sign-in, and from there back to this very page. */
function leaveWhenSignedOut(error: Error): void {
  if (!(error instanceof ProblemError) || error.problem.code !== "unauthenticated") return;
  const { pathname, search } = window.location;
  const query = new URLSearchParams({ reason: "expired", next: `${pathname}${search}` });
  window.location.assign(`/login?${query}`);
}

/** Whether live updates are paused, and the switch. */
export function useLiveSwitch(): Live {
  return useContext(LiveContext);
}

/**
 * Polls one API path. The path is the cache key, so that the same question is asked once however many panels show it.
 * Old data stays while a new filter loads (`isPlaceholderData`) and when a read fails.
 */
export function useLive<T>(path: string, enabled = true): UseQueryResult<T, Error> {
  const { paused } = useLiveSwitch();
  return useQuery<T, Error>({
    queryKey: ["live", path],
    queryFn: ({ signal }) => fetchJson<T>(path, signal),
    enabled,
    meta: { live: true },
    placeholderData: keepPreviousData,
    refetchInterval: paused ? false : POLL_MS,
    refetchOnWindowFocus: !paused,
    refetchOnReconnect: !paused,
    staleTime: POLL_MS / 2,
  });
}

/** Reads one API path when it is first needed and keeps the answer; for names, not for numbers. */
export function useOnce<T>(path: string): UseQueryResult<T, Error> {
  return useQuery<T, Error>({
    queryKey: ["once", path],
    queryFn: ({ signal }) => fetchJson<T>(path, signal),
    staleTime: 60_000,
  });
}
