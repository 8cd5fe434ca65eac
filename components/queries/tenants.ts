"use client";
/** Reads tenants and destinations: lists, one of them, its newest attempts, and what may be done with it. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { DestinationControlView, TenantControlView } from "#db/console/control-views.ts";
import type { DestinationPage } from "#db/console/list-destinations.ts";
import type { TenantList } from "#db/console/list-tenants.ts";
import type { DestinationAnswer } from "#db/console/read-destination.ts";
import type { DestinationAttempts } from "#db/console/read-destination-attempts.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { TenantAnswer } from "#db/console/read-tenant.ts";
import type { Region } from "#domain/region.ts";
import type { Filters } from "./deliveries.ts";
import { useLive } from "./live.tsx";

/** One page of tenants over one or several regions. */
export function useTenants(filters: Filters): UseQueryResult<TenantList, Error> {
  return useLive<TenantList>(`/api/v1/tenants${queryOf(filters)}`);
}

/** One tenant by its id or slug. */
export function useTenant(region: Region, id: string): UseQueryResult<RegionAnswer<TenantAnswer>, Error> {
  return useLive<RegionAnswer<TenantAnswer>>(`/api/v1/tenants/${encodeURIComponent(id)}?region=${region}`);
}

/** The present values of a tenant's controls. */
export function useTenantControl(
  region: Region,
  id: string,
): UseQueryResult<RegionAnswer<TenantControlView>, Error> {
  return useLive<RegionAnswer<TenantControlView>>(`/api/v1/tenants/${id}/control?region=${region}`);
}

/** One page of a region's destinations. */
export function useDestinations(filters: Filters): UseQueryResult<RegionAnswer<DestinationPage>, Error> {
  return useLive<RegionAnswer<DestinationPage>>(`/api/v1/destinations${queryOf(filters)}`);
}

/** One destination by its id. */
export function useDestination(
  region: Region,
  id: string,
): UseQueryResult<RegionAnswer<DestinationAnswer>, Error> {
  return useLive<RegionAnswer<DestinationAnswer>>(
    `/api/v1/destinations/${encodeURIComponent(id)}?region=${region}`,
  );
}

/** Its newest attempts. */
export function useDestinationAttempts(
  region: Region,
  id: string,
): UseQueryResult<RegionAnswer<DestinationAttempts>, Error> {
  return useLive<RegionAnswer<DestinationAttempts>>(
    `/api/v1/destinations/${encodeURIComponent(id)}/attempts?region=${region}`,
  );
}

/** The present values of a destination's controls. */
export function useDestinationControl(
  region: Region,
  id: string,
): UseQueryResult<RegionAnswer<DestinationControlView>, Error> {
  return useLive<RegionAnswer<DestinationControlView>>(`/api/v1/destinations/${id}/control?region=${region}`);
}

function queryOf(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (value !== null && value !== "") query.set(name, value);
  return query.size === 0 ? "" : `?${query}`;
}
