"use client";
/** A few exclusive choices side by side, as radio buttons. */
import { useId } from "react";
import { cx } from "./cx.ts";

export interface SegmentedProps<T extends string> {
  /** Names the choice for screen readers. */
  label: string;
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
  className?: string;
}

/** The chosen option is raised; the others stay readable. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
  className,
}: SegmentedProps<T>) {
  const name = useId();
  return (
    <fieldset
      className={cx("inline-flex h-8 items-stretch rounded-md bg-subtle p-0.5 max-md:h-11", className)}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={cx(
            "flex cursor-pointer items-center whitespace-nowrap rounded-sm border px-2.5 text-table",
            "has-focus-visible:outline-2 has-focus-visible:outline-accent-solid has-focus-visible:outline-offset-2",
            option.value === value
              ? "border-line-strong bg-surface font-medium text-fg"
              : "border-transparent text-muted hover:text-fg",
          )}
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
