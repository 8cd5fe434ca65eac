"use client";
/** The filters of the tenants as they stand in the page's address. Without a region it is all in scope. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { REGIONS } from "#domain/region.ts";

/** The words of the API; the page may not load its code. */
export const TENANT_LIST_STATES = ["active", "paused", "limited", "circuit_open"] as const;
export const TENANT_LIST_SORTS = ["-age", "name"] as const;

const SEARCH = /^\P{Cc}{1,100}$/u;

export const TENANT_PARAMETERS: ParameterTests = {
  region: isRegionList,
  cursor: SHARED_PARAMETERS.cursor,
  q: (value) => SEARCH.test(value),
  state: oneOf(TENANT_LIST_STATES),
  class: oneOf(SERVICE_CLASSES),
  sort: oneOf(TENANT_LIST_SORTS),
};

/** `us`, `eu`, or both, each once. */
function isRegionList(value: string): boolean {
  const parts = value.split(",");
  return new Set(parts).size === parts.length && parts.every((part) => REGIONS.some((one) => one === part));
}

const PARSERS = {
  region: parseAsString,
  q: parseAsString,
  state: parseAsStringLiteral(TENANT_LIST_STATES),
  class: parseAsStringLiteral(SERVICE_CLASSES),
  sort: parseAsStringLiteral(TENANT_LIST_SORTS),
  cursor: parseAsString,
};

export interface TenantFilters {
  /** What the API is asked for. */
  filters: Filters;
  /** True when more than the region and the order narrows the list. */
  narrowed: boolean;
  /** Changes some filters; the list starts over at its first page. */
  set: (change: Filters) => void;
  page: (cursor: string | null) => void;
  clear: () => void;
}

export function useTenantFilters(): TenantFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const usable = usableOnly(query, TENANT_PARAMETERS);
  return {
    filters: usable,
    narrowed: ["q", "state", "class"].some((name) => name in usable),
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    clear: () => void setQuery({ q: null, state: null, class: null, cursor: null }),
  };
}
