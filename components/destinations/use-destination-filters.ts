"use client";
/** The filters of the destinations as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { REGIONS, type Region } from "#domain/region.ts";

/** The words of the API; the page may not load its code. */
export const DESTINATION_LIST_STATES = [
  "active",
  "disabled",
  "paused",
  "circuit_open",
  "rate_limited",
] as const;
export const DESTINATION_LIST_SORTS = ["trouble", "name"] as const;

const SEARCH = /^\P{Cc}{1,100}$/u;

export const DESTINATION_PARAMETERS: ParameterTests = {
  region: SHARED_PARAMETERS.region,
  tenant: SHARED_PARAMETERS.tenant,
  cursor: SHARED_PARAMETERS.cursor,
  q: (value) => SEARCH.test(value),
  state: oneOf(DESTINATION_LIST_STATES),
  sort: oneOf(DESTINATION_LIST_SORTS),
};

const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  tenant: parseAsString,
  q: parseAsString,
  state: parseAsStringLiteral(DESTINATION_LIST_STATES),
  sort: parseAsStringLiteral(DESTINATION_LIST_SORTS),
  cursor: parseAsString,
};

export interface DestinationFilters {
  region: Region;
  /** What the API is asked for. */
  filters: Filters;
  /** True when more than the region and the order narrows the list. */
  narrowed: boolean;
  /** Changes some filters; the list starts over at its first page. */
  set: (change: Filters) => void;
  page: (cursor: string | null) => void;
  clear: () => void;
}

/** Row lists show one region; without one in the address it is the first in scope. */
export function useDestinationFilters(): DestinationFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = useListRegion(query.region);
  const usable = usableOnly(query, DESTINATION_PARAMETERS);
  return {
    region,
    filters: { ...usable, region },
    narrowed: ["q", "state", "tenant"].some((name) => name in usable),
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    clear: () => void setQuery({ q: null, state: null, tenant: null, cursor: null }),
  };
}
