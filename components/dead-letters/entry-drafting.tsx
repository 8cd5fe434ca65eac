"use client";
/**
 * The way from a list of entries to a new batch: the ticked rows or the whole filter, never both. The number beside the
 * words is what the filter holds up to the moment that the address carries, so it is what the next page finds.
 */
import { useState } from "react";
import { useScope } from "#components/queries/deliveries.ts";
import { useReplayPreview } from "#components/queries/replays.ts";
import { DraftReplayLink } from "#components/replays/draft-link.tsx";
import { exclusionWords } from "#components/replays/replay-words.ts";
import { draftFromFilters, newReplayPath, selectionAt } from "#components/replays/selection.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { formatCount } from "#components/ui/format.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { DEFAULT_REPLAY_ITEMS } from "#domain/replay.ts";
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
  // The number stays while it is read: it is counted once for each filter, not with every reading of the list.
  const until = useFirst(JSON.stringify(filters), asOf);
  const draft = draftFromFilters(list.region, filters, until, tenant?.id ?? null);
  const may = useSignedIn()?.actions.includes("replay_draft") ?? false;
  const selection = may && draft.path !== null ? selectionAt(draft.path) : null;
  const query = useReplayPreview(list.region, selection, DEFAULT_REPLAY_ITEMS);
  const preview = query.data?.status === "ok" ? query.data.data : null;
  const label = "Draft replay from this filter";
  if (preview === null) return <DraftReplayLink {...draft} label={label} />;
  const { items, matching, matchingIsLowerBound, excluded } = preview;
  if (items === 0) return <DraftReplayLink path={null} refusal={noneWords(excluded)} label={label} />;
  return (
    <>
      <DraftReplayLink {...draft} label={`${label}: ${formatCount(items)}`} />
      <span className="text-muted text-table">
        {matching > items
          ? `of ${formatCount(matching)}${matchingIsLowerBound ? "+" : ""} that match, `
          : null}
        counted for <Timestamp iso={until} form="clock" named />
      </span>
    </>
  );
}

function noneWords(excluded: Readonly<Record<string, number>>): string {
  const each = Object.entries(excluded).filter(([, n]) => n > 0);
  if (each.length === 0) return "None of these is left to be replayed.";
  const why = each.map(([exclusion, n]) => `${formatCount(n)} ${exclusionWords(exclusion)}`).join(", ");
  return `None of these can be in a batch: ${why}.`;
}

/** The first value that came with a key. */
function useFirst(key: string, value: string): string {
  const [first, setFirst] = useState({ key, value });
  if (first.key === key) return first.value;
  setFirst({ key, value });
  return value;
}
