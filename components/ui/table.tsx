/**
 * A real table in a labelled region that scrolls sideways on narrow screens.
 * The look of all tables lives here; a table only brings its columns and rows.
 */
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export interface Column {
  key: string;
  label: ReactNode;
  /** Numbers stand on the right. */
  align?: "left" | "right";
  /** Read aloud for a column whose label is only visual. */
  srLabel?: string;
  className?: string;
}

export interface TableProps {
  /** Names the table and its scroll region. */
  caption: string;
  columns: readonly Column[];
  children: ReactNode;
  /** Marks the rows as being read again. */
  busy?: boolean;
  /** The first column, which names the rows, stays in sight while the rest scrolls. For short names only. */
  pinned?: boolean;
  className?: string;
}

const PINNED =
  "[&_tr>:first-child]:sticky [&_tr>:first-child]:left-0 [&_tr>:first-child]:z-1 [&_tr>:first-child]:bg-surface";

/** Caption, column heads and rows, in a region that scrolls when they are too wide. */
export function Table({ caption, columns, children, busy = false, pinned = false, className }: TableProps) {
  return (
    <section
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll region must be reachable by keyboard.
      tabIndex={0}
      aria-busy={busy}
      className={cx("scroll-quiet relative overflow-x-auto", className)}
    >
      <table className={cx("w-full border-collapse text-table", pinned && PINNED)}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="h-9 border-line border-b">
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                className={cx(
                  "whitespace-nowrap px-2.5 font-medium text-faint first:pl-4 last:pr-4",
                  column.align === "right" ? "text-right" : "text-left",
                  column.className,
                )}
              >
                {column.label}
                {column.srLabel ? <span className="sr-only">{column.srLabel}</span> : null}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** A row of 36 px. */
export function Row({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <tr className={cx("h-9 border-line border-b last:border-b-0 hover:bg-hover/60", className)}>
      {children}
    </tr>
  );
}

interface CellProps {
  children?: ReactNode;
  align?: "left" | "right";
  /** Text of several lines; `className` cannot say so, since the utility of one line would win. */
  wrap?: boolean;
  className?: string;
}

const LINES = { one: "whitespace-nowrap", several: "whitespace-normal break-words py-1.5" };

/** A cell; figures go right. */
export function Cell({ children, align = "left", wrap = false, className }: CellProps) {
  return (
    <td
      className={cx(
        "px-2.5 first:pl-4 last:pr-4",
        wrap ? LINES.several : LINES.one,
        align === "right" ? "text-right" : "text-left",
        className,
      )}
    >
      {children}
    </td>
  );
}

/** The cell that names its row. */
export function HeadCell({ children, wrap = false, className }: Omit<CellProps, "align">) {
  return (
    <th
      scope="row"
      className={cx("px-2.5 text-left font-normal first:pl-4", wrap ? LINES.several : LINES.one, className)}
    >
      {children}
    </th>
  );
}

/** A name on one line that must not push the columns behind it out of sight; all of it in the title and wherever its row leads. */
export function Clipped({
  text,
  title = text,
  wide = false,
}: {
  text: string;
  title?: string;
  wide?: boolean;
}) {
  return (
    <span
      className={cx("inline-block truncate align-bottom", wide ? "max-w-48" : "max-w-36 2xl:max-w-52")}
      title={title}
    >
      {text}
    </span>
  );
}

/**
 * Two things that belong together in one cell, the second smaller and below; without it the row keeps its height. Compact rows have
 * one line: there it stands behind.
 */
export function Lines({
  children,
  under,
  title,
}: {
  children: ReactNode;
  under: ReactNode;
  title?: string | undefined;
}) {
  return (
    <span className="block py-1 compact:py-0" title={title}>
      {children}
      {under === null ? null : (
        <span className="block text-axis text-faint compact:ml-2 compact:inline">{under}</span>
      )}
    </span>
  );
}
