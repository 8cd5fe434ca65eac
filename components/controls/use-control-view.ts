"use client";
/**
 * Reads the present values of a control: live for the buttons on a page, and once, fresh, for a dialog that has just been
 * opened. A dialog's values stand still while somebody types; only "Reload values" reads them again.
 */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { fetchJson } from "#components/queries/fetch-json.ts";
import { useLive } from "#components/queries/live.tsx";
import type {
  DeliveryControlView,
  DestinationControlView,
  RegionControlView,
  TenantControlView,
} from "#db/console/control-views.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { type ControlTarget, viewPath } from "./control-request.ts";

/** The view of each kind of target. */
export interface Views {
  tenant: TenantControlView;
  destination: DestinationControlView;
  delivery: DeliveryControlView;
  /** A payload is read with its delivery. */
  payload: DeliveryControlView;
  region: RegionControlView;
}

export type ControlView = Views[keyof Views];

/** Polled with the page. */
export function useLiveControl<K extends keyof Views>(
  target: ControlTarget & { readonly kind: K },
): UseQueryResult<RegionAnswer<Views[K]>, Error> {
  return useLive<RegionAnswer<Views[K]>>(viewPath(target));
}

/** Read when the dialog opens; never from a cache and never again by itself. */
export function useFreshControl<V extends ControlView>(
  target: ControlTarget,
): UseQueryResult<RegionAnswer<V>, Error> {
  const path = viewPath(target);
  return useQuery<RegionAnswer<V>, Error>({
    queryKey: ["control", path],
    queryFn: ({ signal }) => fetchJson<RegionAnswer<V>>(path, signal),
    staleTime: 0,
    gcTime: 0,
    refetchOnMount: "always",
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}
