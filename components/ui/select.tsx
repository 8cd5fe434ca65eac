"use client";
/** A native select: it works with every keyboard, reader and phone without code of ours. */
import { ChevronDown } from "lucide-react";
import { cx } from "./cx.ts";

export interface SelectProps {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
  className?: string;
}

/** An empty value means "any"; a chosen value is shown in the strong colour. */
export function Select({ label, value, options, onChange, className }: SelectProps) {
  return (
    <span className={cx("relative inline-flex min-w-0", className)}>
      <select
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={cx(
          "h-8 w-full min-w-0 appearance-none truncate rounded-md border bg-surface pr-7 pl-2.5 text-table max-md:h-11",
          "hover:bg-hover",
          value === "" ? "border-line-strong text-muted" : "border-accent-solid font-medium text-fg",
        )}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-2 size-3.5 -translate-y-1/2 text-faint"
      />
    </span>
  );
}
