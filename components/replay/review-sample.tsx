"use client";
/**
 * The entries that the second person looks into by themselves. It never says that the author has not seen an entry that
 * they have inspected: where nothing else is left, it says so.
 */
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { CardField, CardFields, Cards } from "#components/ui/cards.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { ShortId } from "#components/ui/short-id.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { reasonWords, resultText } from "#components/ui/words.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";

/** Loaded when the first entry is opened. */
const DeliveryPanel = dynamic(
  () => import("#components/delivery/delivery-panel.tsx").then(({ DeliveryPanel: panel }) => panel),
  { ssr: false },
);

const CAPTION = "Sample for the second person";
const COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "seen", label: "Author" },
  { key: "reason", label: "Reason" },
  { key: "last", label: "Last result" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "died", label: "Died at", align: "right" },
  { key: "open", label: "", srLabel: "Open" },
];

type Item = ReplayDetail["reviewSample"][number];

interface SampleProps {
  view: ReplayDetail;
  asOf: string;
  onOpen: (id: string) => void;
}

export function FreshSample({ view, asOf }: { view: ReplayDetail; asOf: string }) {
  const [open, setOpen] = useState<string | null>(null);
  const narrow = useNarrow();
  const Sample = narrow ? SampleCards : SampleTable;
  return (
    <Panel
      title="A fresh sample"
      note={`${formatCount(view.reviewSampleUnseen)} of ${formatCount(view.reviewSample.length)} the author has not seen`}
      flush
    >
      {view.reviewSampleUnseen === 0 && view.reviewSample.length > 0 ? (
        <p className="px-4 py-2 text-muted text-table">
          Every entry was shown to the author, so that none is left which they have not seen.
        </p>
      ) : null}
      <Sample view={view} asOf={asOf} onOpen={setOpen} />
      {open === null ? null : <DeliveryPanel id={open} onClose={() => setOpen(null)} traceUrl={null} />}
    </Panel>
  );
}

function seenWords(view: ReplayDetail, { id }: Item): string {
  if (view.inspected.includes(id)) return "has inspected it";
  return view.sample.some((item) => item.id === id) ? "had it in their sample" : "has not seen it";
}

function OpenButton({ id, onOpen }: { id: string; onOpen: (id: string) => void }) {
  return (
    <Button variant="quiet" label={`Open delivery …${id.slice(-6)}`} onClick={() => onOpen(id)}>
      Open
    </Button>
  );
}

function SampleTable({ view, asOf, onOpen }: SampleProps) {
  return (
    <Table caption={CAPTION} columns={COLUMNS}>
      {view.reviewSample.map((item) => (
        <Row key={item.id}>
          <HeadCell>
            <ShortId id={item.id} />
          </HeadCell>
          <Cell>{seenWords(view, item)}</Cell>
          <Cell>{reasonWords(item.reason)}</Cell>
          <Cell>{resultText(item.lastOutcome, item.lastStatus)}</Cell>
          <Cell align="right">{item.attempts ?? ""}</Cell>
          <Cell align="right">
            {item.diedAt === null ? "" : <NearTimestamp iso={item.diedAt} asOf={asOf} />}
          </Cell>
          <Cell>
            <OpenButton id={item.id} onOpen={onOpen} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function SampleCards({ view, asOf, onOpen }: SampleProps) {
  return (
    <Cards caption={CAPTION} busy={false}>
      {view.reviewSample.map((item) => (
        <li key={item.id} className="border-line border-b px-4 py-2 last:border-b-0">
          <div className="flex items-center justify-between gap-3">
            <ShortId id={item.id} />
            <OpenButton id={item.id} onOpen={onOpen} />
          </div>
          <CardFields>
            <CardField label="Author">{seenWords(view, item)}</CardField>
            <CardField label="Reason">{reasonWords(item.reason)}</CardField>
            <CardField label="Last result">
              {resultText(item.lastOutcome, item.lastStatus)}
              {item.attempts === null ? "" : `, ${plural(item.attempts, "attempt")}`}
            </CardField>
            {item.diedAt === null ? null : (
              <CardField label="Died at">
                <NearTimestamp iso={item.diedAt} asOf={asOf} />
              </CardField>
            )}
          </CardFields>
        </li>
      ))}
    </Cards>
  );
}
