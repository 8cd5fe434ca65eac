"use client";
/**
 * A labelled field: label above, hint and error below, tied together for readers. The label is never a placeholder, and an
 * error always says what would be right.
 */
import { type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

/** What a control of a field must carry. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

export interface FieldProps {
  label: ReactNode;
  /** Stands behind the label: "optional". */
  note?: ReactNode;
  /** Stays below the field. */
  hint?: ReactNode;
  /** What is wrong with the value; null or absent: nothing. */
  error?: string | null | undefined;
  children: (control: FieldControl) => ReactNode;
  className?: string;
}

/** Draws the frame and hands the names to the control. */
export function Field({ label, note, hint, error, children, className }: FieldProps) {
  const id = useId();
  const wrong = error !== null && error !== undefined && error !== "";
  const described = [hint ? `${id}-hint` : "", wrong ? `${id}-error` : ""].filter((part) => part !== "");
  return (
    <div className={cx("grid gap-1.5", className)}>
      <label htmlFor={id} className="font-medium text-table">
        {label}
        {note ? <span className="font-normal text-faint"> · {note}</span> : null}
      </label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": wrong ? true : undefined,
      })}
      {hint ? (
        <p id={`${id}-hint`} className="text-muted text-table">
          {hint}
        </p>
      ) : null}
      <p id={`${id}-error`} aria-live="polite" className="text-danger text-table empty:hidden">
        {wrong ? error : ""}
      </p>
    </div>
  );
}

/** The look of every control that is typed into. */
export const INPUT =
  "w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-body placeholder:text-faint aria-invalid:border-danger-mark read-only:bg-subtle disabled:bg-subtle disabled:text-muted";

export interface TextFieldProps extends Omit<FieldProps, "children"> {
  value: string;
  onChange: (value: string) => void;
  maxLength: number;
  /** Monospaced: ids and names that must match exactly. */
  mono?: boolean;
  autoFocus?: boolean;
  disabled?: boolean;
  type?: "text" | "datetime-local" | "search" | "url";
  min?: string;
  max?: string;
}

/** One line of text. */
export function TextField({
  value,
  onChange,
  mono = false,
  autoFocus = false,
  type = "text",
  maxLength,
  disabled = false,
  min,
  max,
  ...field
}: TextFieldProps) {
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type={type}
          value={value}
          min={min}
          max={max}
          maxLength={type === "datetime-local" ? undefined : maxLength}
          disabled={disabled}
          autoComplete="off"
          spellCheck={false}
          data-autofocus={autoFocus ? "" : undefined}
          onChange={(event) => onChange(event.target.value)}
          className={cx(INPUT, "h-9 max-md:h-11", mono && "font-mono text-table")}
        />
      )}
    </Field>
  );
}
