"use client";
/**
 * The author opens sampled entries before anything is frozen. An entry counts as inspected when it was opened here and then
 * ticked; the sample was drawn by the server and is the same for everybody who looks at the draft.
 */
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { CardField, Cards, StackedCard } from "#components/ui/cards.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { ShortId } from "#components/ui/short-id.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { reasonWords, resultText } from "#components/ui/words.ts";
import type { ReplayItemView } from "#db/console/replay/replay-views.ts";
import { neededOf, openedOf } from "./draft-words.ts";
import { Refused, StepPanel } from "./step-parts.tsx";
import { type StepProps, useStep } from "./use-step.ts";

/** Loaded when the first entry is opened. */
const DeliveryPanel = dynamic(
  () => import("#components/delivery/delivery-panel.tsx").then(({ DeliveryPanel: panel }) => panel),
  { ssr: false },
);

const CAPTION = "Sample of the batch";
const COLUMNS: readonly Column[] = [
  { key: "seen", label: "Inspected" },
  { key: "id", label: "Delivery" },
  { key: "reason", label: "Reason" },
  { key: "last", label: "Last result" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "died", label: "Died at", align: "right" },
  { key: "open", label: "", srLabel: "Open" },
];

export function InspectStep(props: StepProps) {
  const { view, readOnly, asOf } = props;
  const step = useStep(props);
  const [open, setOpen] = useState<string | null>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [done, needed] = [openedOf(view), neededOf(view)];
  const fresh = [...ticked].filter((id) => !view.inspected.includes(id));
  const refused = view.actions.inspect.reason;
  const locked = readOnly || refused !== null;

  function tick(id: string) {
    setTicked((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }

  return (
    <StepPanel title="1. Inspect a sample" done={done >= needed} missing={`${done} of ${needed}`}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p className="max-w-prose text-muted text-table">
          {formatCount(view.sample.length)} of {formatCount(view.items)} entries, drawn across destinations
          and reasons. Open each one, read its last answer, its attempts and its age, then tick it: at least{" "}
          {needed}.
        </p>
        <Sample
          items={view.sample.map((item) => ({
            item,
            asOf,
            recorded: view.inspected.includes(item.id),
            ticked: ticked.has(item.id),
            tickable: !locked && opened.has(item.id),
            onTick: () => tick(item.id),
            onOpen: () => {
              setOpen(item.id);
              setOpened((before) => new Set(before).add(item.id));
            },
          }))}
        />
        {locked ? null : (
          <p className="flex flex-wrap items-center gap-3">
            <Button
              variant="solid"
              disabled={fresh.length === 0 || step.phase.at === "requested"}
              onClick={() => step.send("inspect", { deliveryIds: fresh }, () => setTicked(new Set()))}
            >
              Record {formatCount(fresh.length)} as inspected
            </Button>
            <span className="text-muted text-table">A tick needs the entry to be opened first.</span>
          </p>
        )}
        {refused === null ? null : <p className="text-muted text-table">{refused}</p>}
        <Refused phase={step.phase} onReload={step.clear} />
      </div>
      {open === null ? null : <DeliveryPanel id={open} onClose={() => setOpen(null)} traceUrl={null} />}
    </StepPanel>
  );
}

interface SampleItemProps {
  item: ReplayItemView;
  asOf: string;
  /** Stored as inspected. */
  recorded: boolean;
  ticked: boolean;
  tickable: boolean;
  onTick: () => void;
  onOpen: () => void;
}

function Sample({ items }: { items: readonly SampleItemProps[] }) {
  if (useNarrow()) {
    return (
      <Cards caption={CAPTION} busy={false}>
        {items.map((each) => (
          <SampleCard key={each.item.id} {...each} />
        ))}
      </Cards>
    );
  }
  return (
    <Table caption={CAPTION} columns={COLUMNS}>
      {items.map((each) => (
        <SampleLine key={each.item.id} {...each} />
      ))}
    </Table>
  );
}

function OpenButton({ item, onOpen }: Pick<SampleItemProps, "item" | "onOpen">) {
  return (
    <Button variant="quiet" label={`Open delivery …${item.id.slice(-6)}`} onClick={onOpen}>
      Open
    </Button>
  );
}

/** A phone only reads drafts: there is nothing to tick. */
function SampleCard({ item, asOf, recorded, onOpen }: SampleItemProps) {
  return (
    <StackedCard
      name={
        <span className="flex items-center justify-between gap-3">
          <ShortId id={item.id} />
          <OpenButton item={item} onOpen={onOpen} />
        </span>
      }
    >
      <CardField label="Inspected">{recorded ? "yes" : "not yet"}</CardField>
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
    </StackedCard>
  );
}

function SampleLine({ item, asOf, recorded, ticked, tickable, onTick, onOpen }: SampleItemProps) {
  return (
    <Row>
      <Cell>
        {recorded ? (
          <StatusText tone="ok" label="Inspected" />
        ) : (
          <label className="inline-flex min-h-6 items-center gap-1.5">
            <input
              type="checkbox"
              aria-label={`Tick …${item.id.slice(-6)} as inspected`}
              checked={ticked}
              disabled={!tickable}
              onChange={onTick}
              className="size-4 accent-(--accent-solid)"
            />
          </label>
        )}
      </Cell>
      <HeadCell>
        <ShortId id={item.id} />
      </HeadCell>
      <Cell>{reasonWords(item.reason)}</Cell>
      <Cell>{resultText(item.lastOutcome, item.lastStatus)}</Cell>
      <Cell align="right">{item.attempts ?? ""}</Cell>
      <Cell align="right">{item.diedAt === null ? "" : <NearTimestamp iso={item.diedAt} asOf={asOf} />}</Cell>
      <Cell>
        <OpenButton item={item} onOpen={onOpen} />
      </Cell>
    </Row>
  );
}
