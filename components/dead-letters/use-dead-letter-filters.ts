"use client";
/** The filters of the dead letters as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { DeliveryFilters } from "#components/deliveries/use-delivery-filters.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { DEAD_REASONS } from "#domain/delivery.ts";
import { REGIONS } from "#domain/region.ts";

export const DEAD_LETTER_PARAMETERS: ParameterTests = { ...SHARED_PARAMETERS, reason: oneOf(DEAD_REASONS) };

const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  tenant: parseAsString,
  destination: parseAsString,
  reason: parseAsStringLiteral(DEAD_REASONS),
  cursor: parseAsString,
};

/** The same shape as the filters of the deliveries. */
export function useDeadLetterFilters(): DeliveryFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = useListRegion(query.region);
  const usable = usableOnly(query, DEAD_LETTER_PARAMETERS);
  const narrowing = Object.keys(usable).filter((name) => name !== "region" && name !== "cursor");
  return {
    region,
    filters: { ...usable, region },
    narrowed: narrowing.length > 0,
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    clear: () => void setQuery({ tenant: null, destination: null, reason: null, cursor: null }),
  };
}
