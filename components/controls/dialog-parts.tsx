"use client";
/** What every control dialog is made of: the present state, the effect in plain words, and the count with its time. */
import type { ReactNode } from "react";
import { ToneIcon } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { BoundedCount } from "#db/console/control-views.ts";
import { formatAge } from "#domain/queue-age.ts";
import { boundedWords } from "./control-words.ts";

/** The present state. `asOf` is the time of every number in it. */
export function Facts({ asOf, children }: { asOf: string; children: ReactNode }) {
  return (
    <div className="rounded-md border border-line bg-subtle px-3 py-2.5">
      <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-table">{children}</dl>
      <p className="mt-2 border-line border-t pt-2 text-faint text-table">
        Counted at <Timestamp iso={asOf} form="clock" named plain />
      </p>
    </div>
  );
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 break-words font-medium">{children}</dd>
    </>
  );
}

/** "1,204, oldest 2 m", "none". */
export function CountAndAge({ value }: { value: BoundedCount }) {
  if (value.count === 0) return "none";
  return `${boundedWords(value)}, oldest ${formatAge(value.oldestMs)}`;
}

/** What will happen and what goes on, one sentence each. */
export function Effects({ children }: { children: ReactNode }) {
  return <ul className="grid list-disc gap-1 pl-5 text-table marker:text-faint">{children}</ul>;
}

/** Something that may go wrong, beside the choice that it is about. */
export function Warning({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-table text-warn">
      <ToneIcon tone="warn" className="mt-0.75 size-3.5" />
      <span className="min-w-0">{children}</span>
    </p>
  );
}
