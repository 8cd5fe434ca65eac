"use client";
/**
 * The bar of filters above a list. Wide, all of them stand in a row; on a phone they fold behind one button that says how many
 * are set, so that the first screen shows rows. What is folded must never be the only sign that a list is narrowed.
 */
import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Button } from "./button.tsx";
import { cx } from "./cx.ts";

export interface FilterBarProps {
  /** Always in sight: the search, where the list has one. */
  lead?: ReactNode;
  /** The other filters, each a field of its own. */
  children: ReactNode;
  /** How many of the folded filters are set. */
  used: number;
  /** Takes all filters back; null: nothing narrows the list. */
  onClear: (() => void) | null;
  /** Stands at the end of the row: the saved views. */
  end?: ReactNode;
  /** Below the row, unfolded with it: the rarer filters. */
  more?: ReactNode;
}

export function FilterBar({ lead, children, used, onClear, end, more }: FilterBarProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const folded = open ? "" : "max-md:hidden";
  return (
    <search className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {lead}
        <Button className="md:hidden" expanded={open} controls={id} onClick={() => setOpen(!open)}>
          <SlidersHorizontal aria-hidden="true" className="size-3.5" />
          {used === 0 ? "Filters" : `Filters (${used} set)`}
        </Button>
        <div
          id={id}
          className={cx(
            "flex flex-wrap items-center gap-2 max-md:order-last max-md:w-full md:contents",
            folded,
          )}
        >
          {children}
        </div>
        <span className="flex items-center gap-2 max-md:contents">
          {onClear === null ? null : (
            <Button variant="quiet" onClick={onClear}>
              Clear filters
            </Button>
          )}
          {end}
        </span>
      </div>
      {more ? <div className={folded}>{more}</div> : null}
    </search>
  );
}

/** How many of the named filters have a value. */
export function countUsed(
  filters: Readonly<Record<string, string | null | undefined>>,
  names: readonly string[],
): number {
  return names.filter((name) => filters[name]).length;
}
