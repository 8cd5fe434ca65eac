"use client";
/** Dead letters on a narrow screen: one card each with the fields that decide what to do. */
import Link from "next/link";
import type { ReactNode } from "react";
import { ageAt } from "#components/ui/relative.ts";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { formatAge } from "#domain/queue-age.ts";
import { ReasonCell } from "./cause-cells.tsx";
import { codeText } from "./cause-words.ts";
import { type DeadLettersTableProps, PayloadCell } from "./dead-letters-table.tsx";

const SKELETON_CARDS = 6;

export function EntryCards({ caption, rows, asOf, busy }: DeadLettersTableProps) {
  if (rows === null || asOf === null) {
    return (
      <div aria-hidden="true" className="grid gap-3 p-4">
        {Array.from({ length: SKELETON_CARDS }, (_, card) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
          <Skeleton key={card} className="h-28 w-full" />
        ))}
      </div>
    );
  }
  return (
    <ul aria-label={caption} aria-busy={busy}>
      {rows.map((row) => (
        <li key={row.id} className="border-line border-b px-4 py-3 last:border-b-0">
          <div className="flex items-center gap-1">
            <Link
              href={`/deliveries/${row.id}`}
              prefetch={false}
              className="inline-flex min-h-11 items-center underline underline-offset-4"
            >
              <ShortId id={row.id} />
            </Link>
            <QuietCopy id={row.id} what="delivery id" />
          </div>
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-table">
            <Field label="Reason">
              <ReasonCell row={row} /> {codeText(row)}
            </Field>
            <Field label="Where">
              {row.tenant.name}: {row.destination.name}
            </Field>
            <Field label="Age">{formatAge(ageAt(row.diedAt, asOf))}</Field>
            <Field label="Payload until">
              <PayloadCell row={row} asOf={asOf} />
            </Field>
          </dl>
        </li>
      ))}
    </ul>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
