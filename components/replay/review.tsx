"use client";
/**
 * What the second person reads before they decide: what changed since it was sent back, a sample that the author has not
 * seen, the author's evidence, what it asks of the region, and every stop condition as it is now.
 */
import dynamic from "next/dynamic";
import Link from "next/link";
import { useState } from "react";
import {
  answersOf,
  QUESTION_WORDS,
  QUESTIONS,
  THRESHOLD_WORDS,
  thresholdText,
} from "#components/replay-draft/draft-words.ts";
import { Load } from "#components/replay-draft/load.tsx";
import { Probes } from "#components/replay-draft/probes.tsx";
import { ConditionList } from "#components/replay-draft/submit-step.tsx";
import { Exclusions } from "#components/replays/preview-facts.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { ShortId } from "#components/ui/short-id.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp, Timestamp } from "#components/ui/timestamp.tsx";
import { reasonWords, resultText } from "#components/ui/words.ts";
import type { ReplayDetail, ReplayDiff } from "#db/console/replay/replay-views.ts";
import type { ThresholdName } from "#domain/replay-plan.ts";
import { fieldWords, valueWords } from "./diff-words.ts";
import type { Seen } from "./seen.ts";

/** Loaded when the first entry is opened. */
const DeliveryPanel = dynamic(
  () => import("#components/delivery/delivery-panel.tsx").then(({ DeliveryPanel: panel }) => panel),
  { ssr: false },
);

export function Review({ view, asOf }: Seen) {
  const red = view.conditions.filter(({ breached }) => breached).length;
  return (
    <>
      <Frozen view={view} />
      {view.diff === null ? null : <Diff diff={view.diff} lanes={view.lanes} />}
      <FreshSample view={view} asOf={asOf} />
      <Evidence view={view} />
      <Panel title="What it asks for">
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <PlanWords view={view} />
          <Load view={view} />
        </div>
      </Panel>
      <Panel
        title="Stop conditions now"
        actions={
          <StatusText
            tone={red === 0 ? "ok" : "danger"}
            label={red === 0 ? "All green" : `${red} red: it cannot start`}
          />
        }
      >
        <ConditionList conditions={view.conditions} />
      </Panel>
    </>
  );
}

function Frozen({ view }: { view: ReplayDetail }) {
  return (
    <Panel title="What is frozen">
      <div className="grid gap-2">
        <p>
          {plural(view.items, "entry", "entries")}
          {view.submittedBy === null ? "" : `, frozen by ${view.submittedBy}`}
          {view.submittedAt === null ? null : (
            <>
              {" "}
              at <Timestamp iso={view.submittedAt} named />
            </>
          )}
          . {view.canarySize === null ? "" : `The canary is ${plural(view.canarySize, "entry", "entries")}.`}
        </p>
        {view.sha256 === null ? null : (
          <p className="flex flex-wrap items-center gap-1 text-table">
            <span className="text-faint">SHA-256</span>
            <code className="min-w-0 break-all font-mono">{view.sha256}</code>
            <CopyButton text={view.sha256} what="hash" />
          </p>
        )}
        {view.approvedBy === null ? null : (
          <p className="break-words text-table">
            Approved by {view.approvedBy}: {view.approvalComment}
          </p>
        )}
        <Exclusions excluded={view.excluded} />
      </div>
    </Panel>
  );
}

function Diff({ diff, lanes }: { diff: ReplayDiff; lanes: ReplayDetail["lanes"] }) {
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
            {diff.requestedBy}
            {diff.requestedAt === null ? null : (
              <>
                {" "}
                at <Timestamp iso={diff.requestedAt} form="clock" named />
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
          <Table
            caption="Changed fields"
            columns={[
              { key: "field", label: "Field" },
              { key: "before", label: "Before" },
              { key: "after", label: "Now" },
            ]}
          >
            {diff.fields.map(({ field, before, after }) => (
              <Row key={field}>
                <HeadCell>{fieldWords(field, lanes)}</HeadCell>
                <Cell className="whitespace-normal break-words">{valueWords(field, before)}</Cell>
                <Cell className="whitespace-normal break-words">{valueWords(field, after)}</Cell>
              </Row>
            ))}
          </Table>
        )}
      </div>
    </Panel>
  );
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

const SAMPLE_COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "seen", label: "Author" },
  { key: "reason", label: "Reason" },
  { key: "last", label: "Last result" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "died", label: "Died at", align: "right" },
  { key: "open", label: "", srLabel: "Open" },
];

function FreshSample({ view, asOf }: { view: ReplayDetail; asOf: string }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Panel
      title="A fresh sample"
      note={`${formatCount(view.reviewSampleUnseen)} of ${formatCount(view.reviewSample.length)} the author has not seen`}
      flush
    >
      <Table caption="Sample for the second person" columns={SAMPLE_COLUMNS}>
        {view.reviewSample.map((item) => (
          <Row key={item.id}>
            <HeadCell>
              <ShortId id={item.id} />
            </HeadCell>
            <Cell>{view.inspected.includes(item.id) ? "has inspected it" : "has not seen it"}</Cell>
            <Cell>{reasonWords(item.reason)}</Cell>
            <Cell>{resultText(item.lastOutcome, item.lastStatus)}</Cell>
            <Cell align="right">{item.attempts ?? ""}</Cell>
            <Cell align="right">
              {item.diedAt === null ? "" : <NearTimestamp iso={item.diedAt} asOf={asOf} />}
            </Cell>
            <Cell>
              <Button
                variant="quiet"
                label={`Open delivery …${item.id.slice(-6)}`}
                onClick={() => setOpen(item.id)}
              >
                Open
              </Button>
            </Cell>
          </Row>
        ))}
      </Table>
      {open === null ? null : <DeliveryPanel id={open} onClose={() => setOpen(null)} traceUrl={null} />}
    </Panel>
  );
}

function Evidence({ view }: { view: ReplayDetail }) {
  const answers = answersOf(view.checklist);
  return (
    <Panel title="What the author found">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p className="break-words">
          <span className="text-faint">Root cause</span> {view.rootCause ?? "not named"}
          {view.fixUrl === null ? null : (
            <>
              {" "}
              <a
                href={view.fixUrl}
                rel="noreferrer noopener"
                target="_blank"
                className="text-accent underline underline-offset-4"
              >
                Fix (new tab)
              </a>
            </>
          )}
        </p>
        <dl className="grid gap-2 text-table">
          {QUESTIONS.map((name) => (
            <div key={name} className="grid gap-0.5">
              <dt className="flex flex-wrap items-center gap-x-2 font-medium">
                {QUESTION_WORDS[name].question}
                <StatusText
                  tone={answers[name].yes === true ? "ok" : "danger"}
                  label={answers[name].yes === null ? "Not answered" : answers[name].yes ? "Yes" : "No"}
                />
              </dt>
              <dd className="break-words text-muted">{answers[name].evidence}</dd>
            </div>
          ))}
        </dl>
        <Probes lanes={view.lanes} />
      </div>
    </Panel>
  );
}

/** The plan in a sentence, and where it is stricter or looser than the policy. */
function PlanWords({ view }: { view: ReplayDetail }) {
  const { plan, policy } = view;
  const names = Object.keys(THRESHOLD_WORDS) as ThresholdName[];
  const other = names.filter((name) => plan.stop[name] !== policy[name]);
  return (
    <div className="grid gap-2 text-table">
      <p>
        {plan.ratePerSecond === null
          ? "Each destination at its own default rate"
          : `${plan.ratePerSecond}/s for each destination`}
        , {plural(plan.concurrency, "entry", "entries")} of a destination out at once,{" "}
        {plural(plan.attemptBudget, "attempt")} for each entry.
        {plan.endsBefore === null ? null : (
          <>
            {" "}
            It ends before <Timestamp iso={plan.endsBefore} named />.
          </>
        )}
      </p>
      {other.length === 0 ? (
        <p className="text-muted">Every stop condition is as the policy has it.</p>
      ) : (
        <ul aria-label="Stop conditions that differ from the policy" className="grid gap-0.5">
          {other.map((name) => (
            <li key={name} className={plan.stop[name] > policy[name] ? "text-warn" : ""}>
              {THRESHOLD_WORDS[name].label}: {thresholdText(name, plan.stop[name])} instead of{" "}
              {thresholdText(name, policy[name])} ({plan.stop[name] > policy[name] ? "looser" : "stricter"})
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
