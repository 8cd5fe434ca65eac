"use client";
/** The frozen entries of a batch and what became of each, paged. */
import Link from "next/link";
import { RegionSilent } from "#components/dead-letters/notices.tsx";
import { replayItemsExportPath, useReplayItems } from "#components/queries/replays.ts";
import { ITEM_STATE_WORDS } from "#components/replays/replay-words.ts";
import { destinationEnd } from "#components/replays/stored-text.ts";
import { StoredWords } from "#components/replays/stored-words.tsx";
import { useBehind } from "#components/shell/freshness.ts";
import { CardField, CardSkeletons, Cards, DeliveryCard } from "#components/ui/cards.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ExportLinks } from "#components/ui/export-links.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { reasonWords, resultText } from "#components/ui/words.ts";
import type { ReplayDetail, ReplayItemView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { REPLAY_ITEM_STATES, type ReplayItemState } from "#domain/replay.ts";
import { laneName } from "./lane-name.ts";

const CAPTION = "Entries of the batch";
const COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "destination", label: "Destination" },
  { key: "state", label: "State" },
  { key: "why", label: "Why" },
  { key: "reason", label: "Died of" },
  { key: "last", label: "Last result" },
  { key: "released", label: "Released", align: "right" },
  { key: "ended", label: "Ended", align: "right" },
];
const SKELETON_ROWS = 8;
const STATES = [
  { value: "", label: "Any state" },
  ...REPLAY_ITEM_STATES.map((value) => ({ value, label: ITEM_STATE_WORDS[value].label })),
];

export interface ItemsProps {
  region: Region;
  id: string;
  /** Of the batch: they name its destinations. */
  lanes: ReplayDetail["lanes"];
  filters: { state: ReplayItemState | null; destination: string | null; cursor: string | null };
  onChange: (change: {
    state?: ReplayItemState | null;
    destination?: string | null;
    cursor: string | null;
  }) => void;
}

export function Items({ region, id, lanes, filters, onChange }: ItemsProps) {
  const query = useReplayItems(region, id, filters);
  const stale = useBehind();
  const names = new Map(lanes.map((lane) => [lane.destinationId, laneName(lane)]));
  const answer = query.data;
  const page = answer?.status === "ok" ? answer : null;
  const paging = usePaging({
    list: `entries of ${id}`,
    filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: (cursor) => onChange({ cursor }),
  });
  return (
    <ListPanel title="Entries" note={undefined} stale={stale} added={0} onShowAdded={() => {}} {...paging}>
      <div className="flex flex-wrap items-center gap-2 border-line border-b px-4 py-1.5">
        <Select
          label="State of the entries"
          value={filters.state ?? ""}
          options={STATES}
          onChange={(state) => onChange({ state: (state || null) as ReplayItemState | null, cursor: null })}
        />
        {lanes.length < 2 ? null : (
          <Select
            label="Destination of the entries"
            value={filters.destination ?? ""}
            options={[
              { value: "", label: "Any destination" },
              ...[...names].map(([value, label]) => ({ value, label })),
            ]}
            onChange={(destination) => onChange({ destination: destination || null, cursor: null })}
          />
        )}
        <span className="ml-auto inline-flex items-center gap-2 text-faint text-table">
          Export
          <ExportLinks path={replayItemsExportPath(region, id, filters)} what="entries of the batch" />
        </span>
      </div>
      {answer?.status === "unavailable" ? (
        <RegionSilent answer={answer} what="entries" />
      ) : answer === undefined && query.error !== null ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : page?.data.rows.length === 0 ? (
        <Notice kind="no-match" title="No entry matches" compact />
      ) : (
        <Rows
          region={region}
          items={page === null ? null : page.data.rows}
          asOf={page === null ? "" : page.asOf}
          names={names}
          busy={query.isPlaceholderData}
        />
      )}
    </ListPanel>
  );
}

interface RowsProps {
  region: Region;
  /** Null: still being read. */
  items: readonly ReplayItemView[] | null;
  asOf: string;
  names: ReadonlyMap<string, string>;
  busy: boolean;
}

function Rows({ region, items, asOf, names, busy }: RowsProps) {
  const narrow = useNarrow();
  const lines = items?.map((item) => ({
    item,
    destination: names.get(item.destinationId) ?? destinationEnd(item.destinationId),
    asOf,
    region,
  }));
  if (narrow) {
    return lines === undefined ? (
      <CardSkeletons className="h-24" />
    ) : (
      <Cards caption={CAPTION} busy={busy}>
        {lines.map((line) => (
          <ItemCard key={line.item.id} {...line} />
        ))}
      </Cards>
    );
  }
  return (
    <Table caption={CAPTION} columns={COLUMNS} busy={busy}>
      {lines === undefined ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        lines.map((line) => <ItemLine key={line.item.id} {...line} />)
      )}
    </Table>
  );
}

interface ItemLineProps {
  item: ReplayItemView;
  destination: string;
  asOf: string;
  region: Region;
}

function ItemState({ item }: { item: ReplayItemView }) {
  return (
    <>
      <StatusText {...ITEM_STATE_WORDS[item.state]} />
      {item.canary ? <span className="ml-1.5 text-faint">canary</span> : null}
    </>
  );
}

function ItemCard({ item, destination, asOf, region }: ItemLineProps) {
  return (
    <DeliveryCard id={item.id}>
      <CardField label="State">
        <ItemState item={item} />
      </CardField>
      {item.why === null ? null : (
        <CardField label="Why">
          <StoredWords text={item.why} region={region} />
        </CardField>
      )}
      <CardField label="Destination">{destination}</CardField>
      <CardField label="Last result">{resultText(item.lastOutcome, item.lastStatus)}</CardField>
      {item.endedAt === null ? null : (
        <CardField label="Ended">
          <NearTimestamp iso={item.endedAt} asOf={asOf} />
        </CardField>
      )}
    </DeliveryCard>
  );
}

function ItemLine({ item, destination, asOf, region }: ItemLineProps) {
  return (
    <Row>
      <HeadCell>
        <Link
          href={`/deliveries/${item.id}`}
          prefetch={false}
          className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
        >
          <ShortId id={item.id} />
        </Link>
      </HeadCell>
      <Cell>{destination}</Cell>
      <Cell>
        <ItemState item={item} />
      </Cell>
      <Cell wrap className="max-w-80">
        {item.why === null ? "" : <StoredWords text={item.why} region={region} />}
      </Cell>
      <Cell>{reasonWords(item.reason)}</Cell>
      <Cell>{resultText(item.lastOutcome, item.lastStatus)}</Cell>
      <Cell align="right">
        {item.releasedAt === null ? "" : <NearTimestamp iso={item.releasedAt} asOf={asOf} />}
      </Cell>
      <Cell align="right">
        {item.endedAt === null ? "" : <NearTimestamp iso={item.endedAt} asOf={asOf} />}
      </Cell>
    </Row>
  );
}
