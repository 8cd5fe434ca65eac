"use client";
/** What is ticked, and what can be done with it. Nothing here changes a delivery. */
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { plural } from "#components/ui/format.ts";
import type { Selection } from "./use-selection.ts";

export interface SelectionBarProps {
  selection: Selection;
  /** Ids of the rows that are shown: what is no longer among them does not count. */
  rows: readonly string[];
}

/** Nothing while nothing is ticked. */
export function SelectionBar({ selection, rows }: SelectionBarProps) {
  const ids = rows.filter((id) => selection.ids.has(id));
  const count = ids.length;
  if (count === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-2 border-line border-b bg-accent-soft px-4 py-1.5 text-table">
      <span role="status" className="font-medium">
        {plural(count, "delivery", "deliveries")} of this page selected
      </span>
      <span className="inline-flex items-center gap-1 text-muted">
        Copy the ids
        <CopyButton text={ids.join("\n")} what={count === 1 ? "delivery id" : "delivery ids"} />
      </span>
      <Button variant="quiet" onClick={() => selection.clear()}>
        Clear the selection
      </Button>
    </div>
  );
}
