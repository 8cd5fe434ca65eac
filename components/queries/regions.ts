"use client";
/** Reads how the regions run. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { Regions } from "#db/console/read-regions.ts";
import type { Region } from "#domain/region.ts";
import { useLive } from "./live.tsx";

/** All regions in scope, or one. */
export function useRegionHealth(region: Region | null): UseQueryResult<Regions, Error> {
  return useLive<Regions>(region === null ? "/api/v1/regions" : `/api/v1/regions?region=${region}`);
}
