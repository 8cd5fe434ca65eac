"use client";
/** Reads the overview. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { Overview } from "#db/console/read-overview.ts";
import type { Region } from "#domain/region.ts";
import { useLive } from "./live.tsx";

/** All regions, or one. */
export function useOverview(region: Region | null): UseQueryResult<Overview, Error> {
  return useLive<Overview>(region === null ? "/api/v1/overview" : `/api/v1/overview?region=${region}`);
}
