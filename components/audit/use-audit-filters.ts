"use client";
/** The filters of the audit as they stand in the page's address, and the row that is open. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { REGIONS, type Region } from "#domain/region.ts";

export const RESULTS = ["ok", "denied", "conflict"] as const;
export const RANGES = ["1h", "6h", "24h", "7d", "30d"] as const;

const TEXT = /^\P{Cc}{1,200}$/u;
const ACTION = /^[a-z_]{1,60}(?:\.(?:[a-z_]{1,60}|\*))?$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const ROW = /^aud_[0-9a-f]{32}$/;

/** Every parameter of the page with the test of its value; the rest is shown as dropped. */
export const AUDIT_PARAMETERS: ParameterTests = {
  region: SHARED_PARAMETERS.region,
  tenant: SHARED_PARAMETERS.tenant,
  cursor: SHARED_PARAMETERS.cursor,
  actor: (value) => TEXT.test(value),
  action: (value) => ACTION.test(value),
  target: (value) => TEXT.test(value),
  result: oneOf(RESULTS),
  range: oneOf(RANGES),
  from: isMoment,
  to: isMoment,
  panel: (value) => ROW.test(value),
};

const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  tenant: parseAsString,
  actor: parseAsString,
  action: parseAsString,
  target: parseAsString,
  result: parseAsStringLiteral(RESULTS),
  range: parseAsStringLiteral(RANGES),
  from: parseAsString,
  to: parseAsString,
  panel: parseAsString,
  cursor: parseAsString,
};
const NOTHING = {
  tenant: null,
  actor: null,
  action: null,
  target: null,
  result: null,
  range: null,
  from: null,
  to: null,
  panel: null,
  cursor: null,
} as const;

export interface AuditFilters {
  region: Region;
  /** What the API is asked for. */
  filters: Filters;
  /** The row whose difference is shown. */
  panel: string | null;
  narrowed: boolean;
  /** Changes some filters; the list starts over at its first page. */
  set: (change: Filters) => void;
  page: (cursor: string | null) => void;
  open: (row: string | null) => void;
  clear: () => void;
}

export function useAuditFilters(): AuditFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = useListRegion(query.region);
  const { panel = null, ...usable } = usableOnly(query, AUDIT_PARAMETERS);
  return {
    region,
    filters: { ...usable, region },
    panel,
    narrowed: Object.keys(usable).some((name) => name !== "region" && name !== "cursor"),
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null, panel: null }),
    page: (cursor) => void setQuery({ cursor, panel: null }),
    open: (row) => void setQuery({ panel: row }),
    clear: () => void setQuery(NOTHING),
  };
}

function isMoment(value: string): boolean {
  return MOMENT.test(value) && !Number.isNaN(Date.parse(value));
}
