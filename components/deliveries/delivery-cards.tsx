"use client";
/** The list of deliveries on a narrow screen: one card each with the four fields that decide what to do. */
import Link from "next/link";
import type { ReactNode } from "react";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { NextCell, StateCell } from "./delivery-cells.tsx";

const SKELETON_CARDS = 6;

export interface DeliveryCardsProps {
  /** Null while nothing has been read. */
  rows: readonly DeliveryRow[] | null;
  asOf: string | null;
  busy: boolean;
  caption: string;
}

export function DeliveryCards({ rows, asOf, busy, caption }: DeliveryCardsProps) {
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
            <Field label="State">
              <StateCell row={row} className="flex-wrap" />
            </Field>
            <Field label="Tenant">{row.tenant.name}</Field>
            <Field label="Last result">{resultText(row.lastOutcome, row.lastStatus) || "not tried"}</Field>
            <Field label="Next attempt">
              <NextCell row={row} asOf={asOf} />
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
