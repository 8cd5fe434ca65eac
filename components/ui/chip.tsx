"use client";
/** A removable filter, or a value that was dropped because it means nothing here. */
import { X } from "lucide-react";
import { cx } from "./cx.ts";

export interface ChipProps {
  label: string;
  /** What pressing it does, for screen readers. */
  action: string;
  onRemove: () => void;
  tone?: "neutral" | "warn";
}

/** The whole chip is the button. */
export function Chip({ label, action, onRemove, tone = "neutral" }: ChipProps) {
  return (
    <button
      type="button"
      onClick={onRemove}
      aria-label={`${label}. ${action}`}
      title={action}
      className={cx(
        "inline-flex h-6 max-w-full items-center gap-1 rounded-full px-2 text-axis font-medium max-md:h-8",
        tone === "warn" ? "bg-warn-soft text-warn" : "bg-accent-soft text-accent",
        "hover:opacity-80",
      )}
    >
      <span className="truncate">{label}</span>
      <X aria-hidden="true" className="size-3 shrink-0" />
    </button>
  );
}
