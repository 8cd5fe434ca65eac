"use client";
/**
 * One command for each ticked delivery: what it would do to how many, a reason once, then each row's own answer. The rows are
 * those that were ticked when it opened. Closing it never takes back what was sent, and while it sends it does not close.
 */
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { refuseReason } from "#components/controls/bounds.ts";
import { Effects, Warning } from "#components/controls/dialog-parts.tsx";
import { FormButtons } from "#components/controls/form-buttons.tsx";
import { type ReasonDraft, ReasonFields } from "#components/controls/reason-fields.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { ShortId } from "#components/ui/short-id.tsx";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import type { Region } from "#domain/region.ts";
import { type BulkResult, type BulkVerb, bulkButton, leftOut, sumWords } from "./bulk.ts";
import { useBulk } from "./use-bulk.ts";

const TITLES: Readonly<Record<BulkVerb, string>> = {
  "retry-now": "Retry the selected deliveries now",
  cancel: "Cancel the selected deliveries",
};
const EFFECTS: Readonly<Record<BulkVerb, readonly string[]>> = {
  "retry-now": [
    "The due time of each becomes now. It stays the same delivery, with the same id and key.",
    "Gate, pause, caps and rate still hold: each goes when they let it.",
  ],
  cancel: [
    "None of them is ever sent. This cannot be undone.",
    "Rows and attempts stay in the archive; their keys stay taken.",
  ],
};
const OUTCOMES: Readonly<Record<BulkResult["outcome"], { label: string; tone: Tone }>> = {
  done: { label: "Done", tone: "ok" },
  skipped: { label: "Skipped", tone: "neutral" },
  failed: { label: "Failed", tone: "danger" },
};
const COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "result", label: "Result" },
  { key: "why", label: "Why" },
];

export interface BulkDialogProps {
  verb: BulkVerb;
  region: Region;
  /** The ticked rows as they stood when it opened. */
  rows: readonly DeliveryRow[];
  /** `asked`: something was sent. */
  onClose: (asked: boolean) => void;
}

export default function BulkDialog({ verb, region, rows, onClose }: BulkDialogProps) {
  const formId = useId();
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [tried, setTried] = useState(false);
  const bulk = useBulk(verb, region);
  const plan = planOf(verb, rows);
  const asked = bulk.running || bulk.results.size > 0;
  const results = [...plan.left, ...bulk.results.values()];
  const failed = [...bulk.results.values()].filter(({ outcome }) => outcome === "failed");
  const ask = (ids: readonly string[]) => bulk.start(ids, bodyOf(draft));

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (refuseReason(draft.reason) === null) ask(plan.ids);
  }

  const buttons = asked ? (
    <ResultButtons
      running={bulk.running}
      failed={failed.length}
      onStop={bulk.stop}
      onAgain={() => ask(failed.map(({ id }) => id))}
      onClose={() => onClose(true)}
    />
  ) : (
    <FormButtons
      formId={formId}
      label={bulkButton(verb, plan.ids.length)}
      busy={false}
      danger={verb === "cancel"}
      onCancel={() => onClose(false)}
    />
  );
  return (
    <Dialog
      open
      width="wide"
      title={TITLES[verb]}
      onClose={bulk.running ? bulk.stop : () => onClose(asked)}
      footer={buttons}
    >
      {asked ? (
        <Results rows={rows} results={results} running={bulk.running} />
      ) : (
        <form id={formId} noValidate onSubmit={submit} className="grid gap-4">
          <p>
            {plural(rows.length, "delivery is", "deliveries are")} selected. {formatCount(plan.ids.length)} of
            them {plan.ids.length === 1 ? "is" : "are"} asked for, one after the other; its state at that
            moment decides for each.
          </p>
          {plan.left.length === 0 ? null : (
            <Warning>
              {plural(plan.left.length, "delivery is", "deliveries are")} left out, each with its reason in
              the results.
            </Warning>
          )}
          <Effects>
            {EFFECTS[verb].map((effect) => (
              <li key={effect}>{effect}</li>
            ))}
          </Effects>
          <ReasonFields draft={draft} onChange={setDraft} showProblems={tried} />
        </form>
      )}
    </Dialog>
  );
}

/** Who is asked for, and who is not with the reason. */
function planOf(verb: BulkVerb, rows: readonly DeliveryRow[]) {
  const judged = rows.map((row) => ({ id: row.id, why: leftOut(verb, row) }));
  return {
    ids: judged.flatMap(({ id, why }) => (why === null ? [id] : [])),
    left: judged.flatMap(({ id, why }) => (why === null ? [] : [{ id, outcome: "skipped" as const, why }])),
  };
}

function bodyOf({ reason, ticket }: ReasonDraft): object {
  const named = ticket.trim();
  return { reason: reason.trim(), ...(named === "" ? {} : { ticket: named }) };
}

interface ResultButtonsProps {
  running: boolean;
  failed: number;
  onStop: () => void;
  onAgain: () => void;
  onClose: () => void;
}

function ResultButtons({ running, failed, onStop, onAgain, onClose }: ResultButtonsProps) {
  if (running) return <Button onClick={onStop}>Stop after this one</Button>;
  return (
    <>
      {failed === 0 ? null : (
        <Button onClick={onAgain}>Ask for the {formatCount(failed)} failed again</Button>
      )}
      <Button onClick={onClose}>Close</Button>
    </>
  );
}

interface ResultsProps {
  rows: readonly DeliveryRow[];
  results: readonly BulkResult[];
  running: boolean;
}

/** In the order of the list, with what is still to come. */
function Results({ rows, results, running }: ResultsProps) {
  const byId = new Map(results.map((result) => [result.id, result]));
  const sum = useRef<HTMLParagraphElement>(null);
  // The button that was pressed is gone with the form: the focus goes on to what has taken its place.
  useEffect(() => sum.current?.focus(), []);
  return (
    <div className="grid gap-3">
      <p ref={sum} role="status" tabIndex={-1} className="font-medium outline-none">
        {sumWords(results)}
        {running ? `, ${formatCount(rows.length - byId.size)} to go` : ""}
      </p>
      <Table caption="Results" columns={COLUMNS} busy={running}>
        {rows.map(({ id }) => (
          <ResultLine key={id} id={id} result={byId.get(id) ?? null} />
        ))}
      </Table>
    </div>
  );
}

function ResultLine({ id, result }: { id: string; result: BulkResult | null }) {
  const words = result === null ? ({ label: "Waits", tone: "unknown" } as const) : OUTCOMES[result.outcome];
  return (
    <Row>
      <HeadCell>
        <ShortId id={id} />
      </HeadCell>
      <Cell>
        <StatusText tone={words.tone} label={words.label} />
      </Cell>
      <Cell wrap className="min-w-48 text-muted">
        {result?.why}
      </Cell>
    </Row>
  );
}
