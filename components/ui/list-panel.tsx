"use client";
/** The frame of a paged list: what waits, the table or what stands in its place, and the ways to other pages. */
import { ChevronLeft, ChevronRight, ChevronsLeft } from "lucide-react";
import type { ReactNode } from "react";
import { useListKeys } from "#components/shell/use-list-keys.ts";
import { Button } from "./button.tsx";
import { formatCount } from "./format.ts";
import { Panel } from "./panel.tsx";

export interface ListPanelProps {
  title: string;
  note: ReactNode;
  stale: boolean;
  /** New rows that wait while a person is in the table. */
  added: number;
  onShowAdded: () => void;
  /** Null when there is no next page. */
  onNext: (() => void) | null;
  /** Null or absent when the page before is not known; the key for it then leads to the first page. See `usePaging`. */
  onPrevious?: (() => void) | null;
  /** Null on the first page. */
  onFirst: (() => void) | null;
  children: ReactNode;
}

/** Paging stands under the table; there is no page number, since rows come and go. */
export function ListPanel({
  title,
  note,
  stale,
  added,
  onShowAdded,
  onNext,
  onPrevious = null,
  onFirst,
  children,
}: ListPanelProps) {
  useListKeys({ onNext, onPrevious: onPrevious ?? onFirst, onReload: added > 0 ? onShowAdded : null });
  return (
    <Panel
      flush
      title={title}
      note={note}
      stale={stale}
      actions={added > 0 ? <Button onClick={onShowAdded}>Show {formatCount(added)} new</Button> : undefined}
    >
      {children}
      {onNext !== null || onFirst !== null ? (
        <nav aria-label="Pages" className="flex flex-wrap justify-end gap-2 border-line border-t px-4 py-2.5">
          {onFirst ? (
            <Button onClick={onFirst}>
              <ChevronsLeft aria-hidden="true" className="size-3.5" />
              First page
            </Button>
          ) : null}
          {onPrevious ? (
            <Button onClick={onPrevious}>
              <ChevronLeft aria-hidden="true" className="size-3.5" />
              Previous page
            </Button>
          ) : null}
          {onNext ? (
            <Button onClick={onNext}>
              Next page
              <ChevronRight aria-hidden="true" className="size-3.5" />
            </Button>
          ) : null}
        </nav>
      ) : null}
    </Panel>
  );
}
