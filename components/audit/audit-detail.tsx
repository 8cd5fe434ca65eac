"use client";
/** One row of the audit in full: what it changed, field by field. What a command stores of itself holds no secret and no body. */
import Link from "next/link";
import type { ReactNode } from "react";
import type { Filters } from "#components/queries/deliveries.ts";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { cx } from "#components/ui/cx.ts";
import { StatusBadge } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { AuditRow } from "#db/console/list-audit.ts";
import {
  actionText,
  type Difference,
  differencesOf,
  isInstant,
  RESULT_WORDS,
  targetHref,
} from "./audit-words.ts";

export interface AuditDetailProps {
  row: AuditRow;
  /** Shows what else was done to the target, or by the actor. */
  onSameTrail: (change: Filters) => void;
}

export function AuditDetail({ row, onSameTrail }: AuditDetailProps) {
  const result = RESULT_WORDS[row.result];
  const href = targetHref(row);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <p>
        <StatusBadge tone={result.tone} label={result.label} />
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-table">
        <Fact label="Time">
          <Timestamp iso={row.at} form="exact" named />
        </Fact>
        <Fact label="Actor">
          {row.actor} <span className="text-faint">({row.role})</span>
        </Fact>
        <Fact label="Action">
          {actionText(row.action)} <span className="font-mono text-axis text-faint">{row.action}</span>
        </Fact>
        <Fact label="Target">
          {href === null ? (
            row.target
          ) : (
            <Link href={href} prefetch={false} className="underline underline-offset-4">
              {row.target}
            </Link>
          )}{" "}
          <span className="text-faint">({row.targetKind.replaceAll("_", " ")})</span>
        </Fact>
        <Fact label="Scope">
          {row.region.toUpperCase()}
          {row.tenant === null ? ", no tenant" : `, ${row.tenant.name}`}
        </Fact>
        <Fact label="Reason">{row.reason}</Fact>
        <Fact label="Ticket">{row.ticket ?? "none"}</Fact>
        <Fact label="Correlation id">
          <span className="font-mono">{row.correlationId}</span>{" "}
          <CopyButton text={row.correlationId} what="correlation id" />
        </Fact>
        <Fact label="Audit id">
          <span className="font-mono">{row.id}</span> <CopyButton text={row.id} what="audit id" />
        </Fact>
      </dl>
      <Changes row={row} />
      <p className="flex flex-wrap gap-2">
        <Button onClick={() => onSameTrail({ target: row.target })}>Everything about this target</Button>
        <Button onClick={() => onSameTrail({ actor: row.actor })}>Everything by this actor</Button>
      </p>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

const COLUMNS: readonly Column[] = [
  { key: "field", label: "Field" },
  { key: "before", label: "Before" },
  { key: "after", label: "After" },
];

function Changes({ row }: { row: AuditRow }) {
  const differences = differencesOf(row);
  if (differences.length === 0) {
    return <p className="text-muted text-table">It says nothing of values before and after.</p>;
  }
  return (
    <section aria-label="Before and after">
      <h3 className="mb-1.5 font-medium">Before and after</h3>
      <Table caption="Values before and after" columns={COLUMNS}>
        {differences.map((difference) => (
          <Change key={difference.field} {...difference} />
        ))}
      </Table>
    </section>
  );
}

/** What changed is bold and says so for readers; colour is second. */
function Change({ field, before, after, changed }: Difference) {
  return (
    <Row className="align-top">
      <HeadCell wrap>
        <span className={cx(changed && "font-medium")}>{field}</span>
        {changed ? <span className="sr-only"> (changed)</span> : null}
      </HeadCell>
      <Cell wrap className={changed ? "bg-danger-soft" : "text-muted"}>
        <Value text={before} />
      </Cell>
      <Cell wrap className={changed ? "bg-ok-soft" : "text-muted"}>
        <Value text={after} />
      </Cell>
    </Row>
  );
}

function Value({ text }: { text: string | null }) {
  if (text === null) return "–";
  return isInstant(text) ? <Timestamp iso={text} form="exact" named plain /> : text;
}
