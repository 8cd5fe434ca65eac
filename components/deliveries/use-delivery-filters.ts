"use client";
/** The filters of the delivery list as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import {
  FILTER_REASONS,
  isEventType,
  RANGE_NAMES,
  readAge,
  readAttempts,
  readCode,
  readMoment,
  SORTS,
} from "#domain/delivery-filter.ts";
import { REGIONS, type Region } from "#domain/region.ts";

const SEARCH = /^[\x21-\x7e]{1,255}$/;
const DELIVERY_ID = /^dlv_[0-9a-f]{32}$/;
const MOST_ROWS = 100;

/** Every parameter of the page with the test of its value; the rest is shown as dropped. */
export const DELIVERY_PARAMETERS: ParameterTests = {
  ...SHARED_PARAMETERS,
  state: oneOf(STATES),
  reason: oneOf(FILTER_REASONS),
  code: (value) => readCode(value) !== null,
  type: isEventType,
  class: oneOf(SERVICE_CLASSES),
  attempts: (value) => readAttempts(value) !== null,
  age: (value) => readAge(value) !== null,
  from: (value) => readMoment(value) !== null,
  to: (value) => readMoment(value) !== null,
  range: oneOf(RANGE_NAMES),
  q: (value) => SEARCH.test(value),
  sort: oneOf(SORTS),
  limit: (value) => /^[1-9]\d{0,2}$/.test(value) && Number(value) <= MOST_ROWS,
  panel: (value) => DELIVERY_ID.test(value),
};

/** Parameters that say how the list is shown, not what it holds. */
const VIEW_ONLY: ReadonlySet<string> = new Set(["region", "cursor", "sort", "limit", "panel"]);

export interface DeliveryFilters {
  region: Region;
  /** What the API is asked for. */
  filters: Filters;
  /** True when more than the region narrows the list. */
  narrowed: boolean;
  /** The delivery in the side panel. */
  panel: string | null;
  /** Changes some filters; the list starts over at its first page. */
  set: (change: Filters) => void;
  /** Goes to another page of the same filters. */
  page: (cursor: string | null) => void;
  openPanel: (id: string | null) => void;
  clear: () => void;
}

const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  tenant: parseAsString,
  destination: parseAsString,
  state: parseAsStringLiteral(STATES),
  reason: parseAsString,
  code: parseAsString,
  type: parseAsString,
  class: parseAsStringLiteral(SERVICE_CLASSES),
  attempts: parseAsString,
  age: parseAsString,
  from: parseAsString,
  to: parseAsString,
  range: parseAsString,
  q: parseAsString,
  sort: parseAsString,
  cursor: parseAsString,
  limit: parseAsString,
  panel: parseAsString,
};

const CLEARED = Object.fromEntries(
  Object.keys(PARSERS)
    .filter((name) => !VIEW_ONLY.has(name) || name === "cursor")
    .map((name) => [name, null]),
);

/** Row lists show one region; without one in the address it is the first in scope. */
export function useDeliveryFilters(): DeliveryFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = useListRegion(query.region);
  const { panel = null, ...usable } = usableOnly(query, DELIVERY_PARAMETERS);
  const narrowing = Object.keys(usable).filter((name) => !VIEW_ONLY.has(name));
  return {
    region,
    filters: { ...usable, region },
    narrowed: narrowing.length > 0,
    panel,
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    openPanel: (id) => void setQuery({ panel: id }),
    clear: () => void setQuery(CLEARED as Partial<typeof query>),
  };
}
