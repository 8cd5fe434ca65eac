/**
 * What a panel shows when it has no rows: nothing yet, no match, an error, a region that does not answer.
 * Each says what happened, what is unaffected and what to do next.
 */
import { CircleX, Inbox, type LucideIcon, SearchX, Unplug } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export type NoticeKind = "empty" | "no-match" | "error" | "unavailable";

const ICONS: Record<NoticeKind, LucideIcon> = {
  empty: Inbox,
  "no-match": SearchX,
  error: CircleX,
  unavailable: Unplug,
};

export interface NoticeProps {
  kind: NoticeKind;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** Fits a tile or a small chart. */
  compact?: boolean;
}

/** The body of a panel without rows. */
export function Notice({ kind, title, children, actions, compact = false }: NoticeProps) {
  const Icon = ICONS[kind];
  const bad = kind === "error" || kind === "unavailable";
  return (
    <div
      role={bad ? "alert" : "status"}
      className={cx(
        "flex flex-col items-center justify-center text-center",
        compact ? "px-4 py-8" : "px-4 py-16",
      )}
    >
      <Icon
        aria-hidden="true"
        className={cx("size-6", bad ? "text-danger" : "text-faint")}
        strokeWidth={1.5}
      />
      <p className="mt-3 font-medium">{title}</p>
      {children ? <div className="mt-1 max-w-prose text-muted text-table">{children}</div> : null}
      {actions ? <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div> : null}
    </div>
  );
}
