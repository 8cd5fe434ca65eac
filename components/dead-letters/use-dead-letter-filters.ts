"use client";
/** The view and the filters of the dead letters as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { GROUP_STATES } from "#domain/dead-letter-group.ts";
import { DEAD_CLASSES, DEAD_REASONS } from "#domain/delivery.ts";
import { REGIONS, type Region } from "#domain/region.ts";

export const VIEWS = ["groups", "entries"] as const;
export type View = (typeof VIEWS)[number];
export const RANGES = ["1h", "6h", "24h", "7d"] as const;

const CODE = /^(?:[1-5]\d\d|[345]xx|timeout|network)$/;
const GROUP = /^dlg_[0-9a-f]{32}$/;
const ASSIGNEE = /^\P{Cc}{1,200}$/u;

/** Every parameter of the page with the test of its value; the rest is shown as dropped. */
export const DEAD_LETTER_PARAMETERS: ParameterTests = {
  ...SHARED_PARAMETERS,
  view: oneOf(VIEWS),
  group: (value) => GROUP.test(value),
  reason: oneOf(DEAD_REASONS),
  cause: oneOf(DEAD_CLASSES),
  code: (value) => CODE.test(value),
  status: oneOf(GROUP_STATES),
  assignee: (value) => ASSIGNEE.test(value),
  marked: oneOf(["yes", "no"]),
  range: oneOf(RANGES),
};

const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  view: parseAsStringLiteral(VIEWS),
  group: parseAsString,
  tenant: parseAsString,
  destination: parseAsString,
  reason: parseAsStringLiteral(DEAD_REASONS),
  cause: parseAsStringLiteral(DEAD_CLASSES),
  code: parseAsString,
  status: parseAsStringLiteral(GROUP_STATES),
  assignee: parseAsString,
  marked: parseAsStringLiteral(["yes", "no"]),
  range: parseAsStringLiteral(RANGES),
  cursor: parseAsString,
};

/** What each view asks the API for; a filter that the other view has means nothing to it. */
const FILTERS_OF_VIEW: Readonly<Record<View, readonly string[]>> = {
  groups: ["tenant", "destination", "reason", "cause", "code", "status", "assignee", "cursor"],
  entries: ["tenant", "destination", "reason", "cause", "code", "group", "marked", "range", "cursor"],
};
const NOTHING = {
  group: null,
  tenant: null,
  destination: null,
  reason: null,
  cause: null,
  code: null,
  status: null,
  assignee: null,
  marked: null,
  range: null,
  cursor: null,
} as const;

export interface DeadLetterFilters {
  region: Region;
  view: View;
  /** What the API is asked for in this view. */
  filters: Filters;
  /** The open cause in the view of causes; in that of entries it is a filter. */
  group: string | null;
  /** True when more than the region narrows the view. */
  narrowed: boolean;
  /** Changes some filters; the list starts over at its first page. */
  set: (change: Filters) => void;
  /** Goes to another page of the same filters. */
  page: (cursor: string | null) => void;
  /** Opens the panel of a cause, or closes it. */
  open: (group: string | null) => void;
  /** The other view, with the filters that both have. */
  show: (view: View, group?: string | null) => void;
  clear: () => void;
}

/** Row lists show one region; without one in the address it is the first in scope. */
export function useDeadLetterFilters(): DeadLetterFilters {
  const [query, setQuery] = useQueryStates(PARSERS, { history: "push" });
  const region = useListRegion(query.region);
  const usable = usableOnly(query, DEAD_LETTER_PARAMETERS);
  const view = query.view ?? "groups";
  const asked = Object.fromEntries(
    Object.entries(usable).filter(([name]) => FILTERS_OF_VIEW[view].includes(name)),
  );
  return {
    region,
    view,
    filters: { ...asked, region },
    group: usable.group ?? null,
    narrowed: Object.keys(asked).some((name) => name !== "cursor"),
    set: (change) => void setQuery({ ...(change as Partial<typeof query>), cursor: null }),
    page: (cursor) => void setQuery({ cursor }),
    open: (group) => void setQuery({ group }),
    show: (next, group = null) =>
      void setQuery({ view: next === "groups" ? null : next, group, cursor: null }),
    clear: () => void setQuery(NOTHING),
  };
}
