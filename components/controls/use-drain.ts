"use client";
/**
 * Counts the leases of a region, each time behind a barrier, while its drain is looked at. It goes on while live updates
 * are paused: a person waits for this number. It ends with the proof.
 */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { fetchJson, ProblemError } from "#components/queries/fetch-json.ts";
import type { DrainStatus } from "#db/console/commands/drain-status.ts";
import type { Region } from "#domain/region.ts";

/** Each count takes the claim lock for a moment. */
const COUNT_EVERY_MS = 2_000;

export function useDrain(region: Region): UseQueryResult<DrainStatus, Error> {
  const path = `/api/v1/regions/${region}/drain`;
  return useQuery<DrainStatus, Error>({
    queryKey: ["drain", path],
    queryFn: ({ signal }) => fetchJson<DrainStatus>(path, signal),
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state }) =>
      state.data?.drained || isForbidden(state.error) ? false : COUNT_EVERY_MS,
  });
}

/** Who may not stop claims may not count behind the barrier either; asking again changes nothing. */
function isForbidden(error: Error | null): boolean {
  return error instanceof ProblemError && error.problem.status === 403;
}
