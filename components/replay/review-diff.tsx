"use client";
/**
 * What was changed since the batch was sent back, for the second person. Every changed field and its two values can be
 * read without scrolling sideways on a phone; nothing that changed is left out.
 */
import Link from "next/link";
import { actorWords } from "#components/ui/actor-words.ts";
import { CardField, Cards, StackedCard } from "#components/ui/cards.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { ShortId } from "#components/ui/short-id.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import type { ReplayDetail, ReplayDiff } from "#db/console/replay/replay-views.ts";
import { fieldWords, isMoment, valueWords } from "./diff-words.ts";

const CAPTION = "Changed fields";
const COLUMNS: readonly Column[] = [
  { key: "field", label: "Field" },
  { key: "before", label: "Before" },
  { key: "after", label: "Now" },
];

interface DiffProps {
  diff: ReplayDiff;
  /** Of the batch: they name its destinations. */
  lanes: ReplayDetail["lanes"];
}

export function Diff({ diff, lanes }: DiffProps) {
  return (
    <Panel
      title="Changed since the last review"
      note={
        <>
          against what was frozen at <Timestamp iso={diff.frozenAt} named />
        </>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 text-table">
        {diff.comment === null ? null : (
          <p className="break-words">
            {actorWords(diff.requestedBy)}
            {diff.requestedAt === null ? null : (
              <>
                {" "}
                at <Timestamp iso={diff.requestedAt} named />
              </>
            )}{" "}
            asked: {diff.comment}
          </p>
        )}
        <p>
          {plural(diff.added, "entry", "entries")} added, {formatCount(diff.removed)} removed.
        </p>
        <Named what="Added" ids={diff.addedIds} total={diff.added} />
        <Named what="Removed" ids={diff.removedIds} total={diff.removed} />
        {diff.fields.length === 0 ? (
          <p>No other field was changed.</p>
        ) : (
          <ChangedFields diff={diff} lanes={lanes} />
        )}
      </div>
    </Panel>
  );
}

function ChangedFields({ diff, lanes }: DiffProps) {
  const narrow = useNarrow();
  const changes = diff.fields.map(({ field, before, after }) => ({
    field,
    label: fieldWords(field, lanes),
    before: <Value field={field} value={before} />,
    after: <Value field={field} value={after} />,
  }));
  if (narrow) {
    return (
      <Cards caption={CAPTION} busy={false}>
        {changes.map(({ field, label, before, after }) => (
          <StackedCard key={field} name={label}>
            <CardField label="Before">{before}</CardField>
            <CardField label="Now">{after}</CardField>
          </StackedCard>
        ))}
      </Cards>
    );
  }
  return (
    <Table caption={CAPTION} columns={COLUMNS}>
      {changes.map(({ field, label, before, after }) => (
        <Row key={field}>
          <HeadCell wrap>{label}</HeadCell>
          <Cell wrap>{before}</Cell>
          <Cell wrap>{after}</Cell>
        </Row>
      ))}
    </Table>
  );
}

function Value({ field, value }: { field: string; value: unknown }) {
  const words = valueWords(field, value);
  if (isMoment(field) && typeof value === "string") return <Timestamp iso={words} named />;
  return words;
}

/** The entries that came or went, as far as the API names them. */
function Named({ what, ids, total }: { what: string; ids: readonly string[]; total: number }) {
  if (ids.length === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3">
      <span className="text-faint">{what}</span>
      {ids.map((id) => (
        <Link
          key={id}
          href={`/deliveries/${id}`}
          prefetch={false}
          className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
        >
          <ShortId id={id} />
        </Link>
      ))}
      {total > ids.length ? <span>and {formatCount(total - ids.length)} more</span> : null}
    </p>
  );
}
