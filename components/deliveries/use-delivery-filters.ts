"use client";
/** The filters of the delivery list as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import { REGIONS, type Region } from "#domain/region.ts";

const SEARCH = /^[\x21-\x7e]{1,255}$/;

/** Every parameter of the page with the test of its value; the rest is shown as dropped. */
export const DELIVERY_PARAMETERS: ParameterTests = {
  ...SHARED_PARAMETERS,
  state: oneOf(STATES),
  class: oneOf(SERVICE_CLASSES),
  q: (value) => SEARCH.test(value),
};

export interface DeliveryFilters {
  region: Region;
  /** What the API is asked for. */
  filters: Filters;
  /** True when more than the region narrows the list. */
  narrowed: boolean;
  /** Changes some filters; the list starts over at its first page. */
  set: (change: Filters) => void;
  /** Goes to another page of the same filters. */
  page: (cursor: string | null) => void;
  clear: () => void;
}

const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  tenant: parseAsString,
  destination: parseAsString,
  state: parseAsStringLiteral(STATES),
  class: parseAsStringLiteral(SERVICE_CLASSES),
  q: parseAsString,
  cursor: parseAsString,
};

/** Row lists show one region; without one in the address it is the first in scope. */
export function useDeliveryFilters(): DeliveryFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = useListRegion(query.region);
  const usable = usableOnly(query, DELIVERY_PARAMETERS);
  const narrowing = Object.keys(usable).filter((name) => name !== "region" && name !== "cursor");
  return {
    region,
    filters: { ...usable, region },
    narrowed: narrowing.length > 0,
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    clear: () =>
      void setQuery({ tenant: null, destination: null, state: null, class: null, q: null, cursor: null }),
  };
}
