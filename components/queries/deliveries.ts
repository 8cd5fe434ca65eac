"use client";
/** Reads the list of deliveries, one delivery, and the names that filters offer. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { DeliveryPage } from "#db/console/list-deliveries.ts";
import type { Scope } from "#db/console/list-scope.ts";
import type { DeliveryAnswer } from "#db/console/read-delivery.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import { useLive, useOnce } from "./live.tsx";

/** Filters as they stand in the page's address; null ones are left out. */
export type Filters = Readonly<Record<string, string | null>>;

/** One page of a region's deliveries. */
export function useDeliveries(filters: Filters): UseQueryResult<RegionAnswer<DeliveryPage>, Error> {
  return useLive<RegionAnswer<DeliveryPage>>(`/api/v1/deliveries?${toQuery(filters)}`);
}

/** The path of the export with the filters of a list: everything that matches, not one page. */
export function exportPath({ cursor: _cursor, limit: _limit, ...filters }: Filters): string {
  return `/api/v1/deliveries/export?${toQuery(filters)}`;
}

/** The path of the export of some deliveries alone. */
export function namedExportPath(region: Region, ids: readonly string[]): string {
  return `/api/v1/deliveries/export?region=${region}&ids=${ids.join(",")}`;
}

/** Where the command of one delivery is sent. */
export function deliveryCommandPath(region: Region, id: string, verb: string): string {
  return `/api/v1/deliveries/${encodeURIComponent(id)}/${verb}?region=${region}`;
}

/** One delivery by its public id. */
export function useDelivery(id: string): UseQueryResult<DeliveryAnswer, Error> {
  return useLive<DeliveryAnswer>(`/api/v1/deliveries/${encodeURIComponent(id)}`);
}

/** Names for filters; they change seldom and are read once per visit. */
export function useScope(region: Region): UseQueryResult<RegionAnswer<Scope>, Error> {
  return useOnce<RegionAnswer<Scope>>(`/api/v1/scope?region=${region}`);
}

function toQuery(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (value !== null && value !== "") query.set(name, value);
  return query.toString();
}
