/** A bordered region of a page with a heading; the frame that every table, chart and list sits in. */
import { type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

export interface PanelProps {
  title: ReactNode;
  /** One line under the title: scope, unit, time. */
  note?: ReactNode;
  /** Right side of the heading. */
  actions?: ReactNode;
  children: ReactNode;
  /** Draws the dashed frame of data that is older than it should be. */
  stale?: boolean;
  className?: string;
  /** Leaves out the inner space, for tables that reach the frame. */
  flush?: boolean;
}

/** A titled section. */
export function Panel({
  title,
  note,
  actions,
  children,
  stale = false,
  className,
  flush = false,
}: PanelProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={cx(
        "flex min-w-0 flex-col rounded-lg border bg-surface",
        stale ? "border-dashed border-line-strong" : "border-line",
        className,
      )}
    >
      <header className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
        <h2 id={id} className="font-semibold text-body tracking-tight">
          {title}
        </h2>
        {note ? <p className="text-faint text-table max-sm:order-last max-sm:w-full">{note}</p> : null}
        {actions ? <div className="ml-auto">{actions}</div> : null}
      </header>
      <div className={flush ? "min-w-0 flex-1 border-line border-t" : "min-w-0 flex-1 px-4 pb-4"}>
        {children}
      </div>
    </section>
  );
}
