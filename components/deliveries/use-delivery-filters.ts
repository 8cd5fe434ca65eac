"use client";
/** The filters of the delivery list as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import { REGIONS, type Region } from "#domain/region.ts";

const TENANT = /^(?:ten_[0-9a-f]{32}|[a-z0-9][a-z0-9-]{0,62})$/;
const DESTINATION = /^dst_[0-9a-f]{32}$/;
const QUERY = /^[\x21-\x7e]{1,255}$/;
const MAX_CURSOR_CHARS = 300;

const oneOf = (values: readonly string[]) => (value: string) => values.includes(value);

/** Every parameter of the page with the test of its value; the rest is shown as dropped. */
export const DELIVERY_PARAMETERS: Readonly<Record<string, (value: string) => boolean>> = {
  region: oneOf(REGIONS),
  tenant: (value) => TENANT.test(value),
  destination: (value) => DESTINATION.test(value),
  state: oneOf(STATES),
  class: oneOf(SERVICE_CLASSES),
  q: (value) => QUERY.test(value),
  cursor: (value) => value.length <= MAX_CURSOR_CHARS,
};

export interface DeliveryFilters {
  region: Region;
  /** What the API is asked for. */
  filters: Filters;
  /** True when more than the region narrows the list. */
  narrowed: boolean;
  /** Changes one filter; the page of the list starts over. */
  set: (change: Filters) => void;
  /** Goes on to another page of the same filter. */
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

/** Row lists show one region; without one in the address it is the first. */
export function useDeliveryFilters(): DeliveryFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = query.region ?? REGIONS[0];
  const usable = Object.fromEntries(
    Object.entries(query).filter(([name, value]) => value !== null && DELIVERY_PARAMETERS[name]?.(value)),
  );
  const { cursor: _cursor, region: _region, ...narrowing } = usable;
  return {
    region,
    filters: { ...usable, region },
    narrowed: Object.keys(narrowing).length > 0,
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    clear: () => void setQuery({ tenant: null, destination: null, state: null, class: null, q: null, cursor: null }),
  };
}
