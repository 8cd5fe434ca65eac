"use client";
/** The replay batches of one region, by what they wait for. Nothing on this page starts or changes one. */
import Link from "next/link";
import type { ReactNode } from "react";
import { RegionSilent } from "#components/dead-letters/notices.tsx";
import { useReplaySummary, useReplays } from "#components/queries/replays.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { TabPanel, Tabs } from "#components/ui/tabs.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { ReplayPage, ReplayRow, ReplaySummary } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayTab } from "#domain/replay-tabs.ts";
import { ReplayCards } from "./replay-cards.tsx";
import { ReplaysTable, type ReplaysTableProps } from "./replays-table.tsx";
import { REPLAY_PARAMETERS, type ReplayList, useReplayList } from "./use-replay-list.ts";

const INLINE_LINK = "text-accent underline underline-offset-4";

const TAB_WORDS: Readonly<Record<ReplayTab, { label: string; title: string; empty: string }>> = {
  needs_review: {
    label: "Needs review",
    title: "Waiting for a second person",
    empty: "No batch waits for a second person.",
  },
  running: { label: "Running", title: "Approved or under way", empty: "No batch is approved or under way." },
  drafts: { label: "Drafts", title: "Drafts", empty: "Nobody is drafting a batch." },
  finished: { label: "Finished", title: "Finished", empty: "No batch has ended yet." },
};
const TABS = Object.keys(TAB_WORDS) as ReplayTab[];

export function ReplaysPage() {
  const list = useReplayList();
  const summary = useReplaySummary(list.region);
  const [answer] = summary.data?.regions ?? [];
  const counts = answer?.status === "ok" && answer.region === list.region ? answer.data : null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Tabs
        label="Replay batches"
        value={list.tab}
        tabs={TABS.map((key) => ({ key, label: TAB_WORDS[key].label, ...countOf(counts, key) }))}
        onChange={(tab) => list.show(tab as ReplayTab)}
      />
      <DroppedChips known={REPLAY_PARAMETERS} />
      {TABS.map((tab) => (
        <TabPanel key={tab} tab={tab} value={list.tab}>
          <TabList list={list} />
        </TabPanel>
      ))}
      <p className="max-w-prose text-muted text-table">
        A batch begins at dead letters: open{" "}
        <Link href={`/dead-letters?region=${list.region}`} prefetch={false} className={INLINE_LINK}>
          a cause
        </Link>
        , or filter{" "}
        <Link
          href={`/dead-letters?region=${list.region}&view=entries`}
          prefetch={false}
          className={INLINE_LINK}
        >
          entries
        </Link>
        , and choose “Draft replay”. Replayed deliveries keep their id, key and body; the order in which they
        arrive can change.
      </p>
    </div>
  );
}

function countOf(counts: ReplaySummary | null, tab: ReplayTab): { count?: number; more?: boolean } {
  if (counts === null) return {};
  const { needsReview, running, drafts, finished, finishedMore } = counts;
  return {
    count: { needs_review: needsReview, running, drafts, finished }[tab],
    more: tab === "finished" && finishedMore,
  };
}

const NO_ROWS: readonly ReplayRow[] = [];
const keyOf = (row: ReplayRow) => row.id;

function TabList({ list }: { list: ReplayList }) {
  const query = useReplays(list.filters);
  const stale = useBehind();
  const page = query.data?.status === "ok" ? query.data : null;
  const { rows, added, release, hold } = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(list.filters),
  );
  const paging = usePaging({
    list: "replays",
    filters: list.filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: list.page,
  });
  const { title } = TAB_WORDS[list.tab];
  return (
    <div {...hold}>
      <ListPanel
        title={`${title}, ${list.region.toUpperCase()}`}
        note={
          page ? (
            <>
              latest first, as of <Timestamp iso={page.asOf} form="clock" named />
            </>
          ) : undefined
        }
        stale={stale}
        added={query.isPlaceholderData ? 0 : added}
        onShowAdded={release}
        {...paging}
      >
        {standIn(query.error, query.data, list, () => void query.refetch()) ?? (
          <Rows
            caption={`${title}, latest first`}
            region={list.region}
            rows={page ? rows : null}
            asOf={page?.asOf ?? null}
            busy={query.isPlaceholderData}
          />
        )}
      </ListPanel>
    </div>
  );
}

function Rows(props: ReplaysTableProps & { region: Region }) {
  return useNarrow() ? <ReplayCards {...props} /> : <ReplaysTable {...props} />;
}

/** What stands in the place of the rows, or null when there are some or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<ReplayPage> | undefined,
  list: ReplayList,
  retry: () => void,
): ReactNode {
  if (answer === undefined) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (answer.status === "unavailable") return <RegionSilent answer={answer} what="replay batches" />;
  if (answer.data.rows.length > 0) return null;
  return <Notice kind="empty" title={TAB_WORDS[list.tab].empty} />;
}
