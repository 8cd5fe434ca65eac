"use client";
/** Tab, region and place of the list of replays, as they stand in the page's address. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { Filters } from "#components/queries/deliveries.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS, usableOnly } from "#components/ui/list-parameters.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { REPLAY_TABS, type ReplayTab } from "#domain/replay-tabs.ts";

export const REPLAY_PARAMETERS: ParameterTests = {
  region: SHARED_PARAMETERS.region,
  cursor: SHARED_PARAMETERS.cursor,
  tab: oneOf(REPLAY_TABS),
};

export interface ReplayList {
  region: Region;
  tab: ReplayTab;
  /** What the API is asked for. */
  filters: Filters;
  show: (tab: ReplayTab) => void;
  page: (cursor: string | null) => void;
}

/** What waits for a person is the first tab. */
export function useReplayList(): ReplayList {
  const [query, setQuery] = useQueryStates(
    {
      region: parseAsStringLiteral(REGIONS),
      tab: parseAsStringLiteral(REPLAY_TABS),
      cursor: parseAsString,
    },
    { history: "push" },
  );
  const region = useListRegion(query.region);
  const tab = query.tab ?? REPLAY_TABS[0];
  const { cursor } = usableOnly(query, REPLAY_PARAMETERS);
  return {
    region,
    tab,
    filters: { region, tab, cursor: cursor ?? null },
    show: (next) => void setQuery({ tab: next === REPLAY_TABS[0] ? null : next, cursor: null }),
    page: (next) => void setQuery({ cursor: next }),
  };
}
