"use client";
/** Reads the overview and the age series. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { AgeSeries, SeriesRange } from "#db/console/read-age-series.ts";
import type { Overview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import { useLive } from "./live.tsx";

/** All regions, or one. */
export function useOverview(region: Region | null): UseQueryResult<Overview, Error> {
  return useLive<Overview>(region === null ? "/api/v1/overview" : `/api/v1/overview?region=${region}`);
}

/** Both ages of one region over a range. */
export function useAgeSeries(
  region: Region,
  range: SeriesRange,
  enabled: boolean,
): UseQueryResult<RegionAnswer<AgeSeries>, Error> {
  return useLive<RegionAnswer<AgeSeries>>(`/api/v1/overview/series?region=${region}&range=${range}`, enabled);
}
