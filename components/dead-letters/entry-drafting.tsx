"use client";
/**
 * The way from a list of entries to a new batch: the ticked rows or the whole filter, never both. It only leads there, so it
 * asks nothing: how many the filter holds, up to the moment that the address carries, is counted by the page that it leads to.
 */
import { useScope } from "#components/queries/deliveries.ts";
import { DraftReplayLink } from "#components/replays/draft-link.tsx";
import { draftFromFilters, newReplayPath } from "#components/replays/selection.ts";
import { formatCount } from "#components/ui/format.ts";
import type { DeadLetterFilters } from "./use-dead-letter-filters.ts";

export interface EntryDraftingProps {
  list: DeadLetterFilters;
  /** The server's time of the list: entries that die later are not meant. */
  asOf: string;
  ticked: readonly string[];
}

export function EntryDrafting({ list, asOf, ticked }: EntryDraftingProps) {
  return (
    <div className="flex flex-wrap items-center gap-2 border-line border-b px-4 py-1.5">
      {ticked.length > 0 ? (
        <DraftReplayLink
          path={newReplayPath(list.region, { ids: ticked.join(",") })}
          label={`Draft replay of ${formatCount(ticked.length)} ticked`}
        />
      ) : (
        <FilterDraft list={list} asOf={asOf} />
      )}
    </div>
  );
}

function FilterDraft({ list, asOf }: Omit<EntryDraftingProps, "ticked">) {
  const scope = useScope(list.region);
  const tenants = scope.data?.status === "ok" ? scope.data.data.tenants : [];
  const asked = list.filters.tenant ?? null;
  const tenant = tenants.find(({ id, slug }) => id === asked || slug === asked);
  const { cursor: _cursor, limit: _limit, ...filters } = list.filters;
  const draft = draftFromFilters(list.region, filters, asOf, tenant?.id ?? null);
  return <DraftReplayLink {...draft} label="Draft replay from this filter" />;
}
