"use client";
/** What the address of a tenant's or destination's page says: region and open tab. The range is the shell's to keep. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS } from "#components/ui/list-parameters.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { isSeriesRange } from "#domain/series.ts";

export interface DetailView<Tab extends string> {
  region: Region;
  tab: Tab;
  setTab: (tab: string) => void;
}

/** Every parameter of such a page with the test of its value. */
export function detailParameters(tabs: readonly string[]): ParameterTests {
  return { region: SHARED_PARAMETERS.region, tab: oneOf(tabs), range: isSeriesRange };
}

/** The first tab is the default and stands in no address. */
export function useDetail<const Tab extends string>(tabs: readonly [Tab, ...Tab[]]): DetailView<Tab> {
  const [query, setQuery] = useQueryStates(
    { region: parseAsStringLiteral(REGIONS), tab: parseAsString },
    { history: "push" },
  );
  const region = useListRegion(query.region);
  return {
    region,
    tab: tabs.find((tab) => tab === query.tab) ?? tabs[0],
    setTab: (tab) => void setQuery({ tab: tab === tabs[0] ? null : tab }),
  };
}
