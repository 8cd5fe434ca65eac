"use client";
/** Radio buttons and check boxes of forms: native ones, with targets of at least 24 px (44 on touch). */
import { type ReactNode, useId } from "react";
import { cx } from "./cx.ts";

export interface Choice<T extends string> {
  value: T;
  label: ReactNode;
  /** Below the label. */
  hint?: ReactNode;
  /** Why it cannot be chosen; it stays in sight with the reason. */
  disabled?: string | undefined;
}

export interface ChoiceFieldProps<T extends string> {
  legend: ReactNode;
  value: T;
  choices: readonly Choice<T>[];
  onChange: (value: T) => void;
  hint?: ReactNode;
  /** Side by side, for short labels. */
  inline?: boolean;
}

/** One of a few. */
export function ChoiceField<T extends string>({
  legend,
  value,
  choices,
  onChange,
  hint,
  inline = false,
}: ChoiceFieldProps<T>) {
  const id = useId();
  return (
    <fieldset aria-describedby={hint ? `${id}-hint` : undefined} className="min-w-0">
      <legend className="mb-1.5 font-medium text-table">{legend}</legend>
      <div className={inline ? "flex flex-wrap gap-2" : "grid gap-1"}>
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={cx(
              "flex min-h-8 items-center gap-2 text-body max-md:min-h-11",
              inline && "rounded-md border px-2.5",
              inline &&
                (choice.value === value ? "border-accent-solid bg-accent-soft" : "border-line-strong"),
              choice.disabled ? "cursor-not-allowed text-faint" : "cursor-pointer",
            )}
          >
            <input
              type="radio"
              name={id}
              value={choice.value}
              checked={choice.value === value}
              disabled={choice.disabled !== undefined}
              onChange={() => onChange(choice.value)}
              className="size-4 shrink-0 accent-(--accent-solid)"
            />
            <span className="min-w-0">
              {choice.label}
              {choice.disabled || choice.hint ? (
                <span className="block text-muted text-table">{choice.disabled ?? choice.hint}</span>
              ) : null}
            </span>
          </label>
        ))}
      </div>
      {hint ? (
        <p id={`${id}-hint`} className="mt-1.5 text-muted text-table">
          {hint}
        </p>
      ) : null}
    </fieldset>
  );
}

export interface CheckFieldProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  hint?: ReactNode;
  error?: string | null;
}

/** A tick. */
export function CheckField({ label, checked, onChange, hint, error }: CheckFieldProps) {
  const id = useId();
  const wrong = error !== null && error !== undefined;
  return (
    <div>
      <label className="flex min-h-8 cursor-pointer items-start gap-2 py-1 text-body max-md:min-h-11">
        <input
          type="checkbox"
          checked={checked}
          aria-invalid={wrong ? true : undefined}
          aria-describedby={wrong ? `${id}-error` : hint ? `${id}-hint` : undefined}
          onChange={(event) => onChange(event.target.checked)}
          className="mt-0.75 size-4 shrink-0 accent-(--accent-solid)"
        />
        <span>{label}</span>
      </label>
      {hint ? (
        <p id={`${id}-hint`} className="ml-6 text-muted text-table">
          {hint}
        </p>
      ) : null}
      <p id={`${id}-error`} aria-live="polite" className="ml-6 text-danger text-table empty:hidden">
        {wrong ? error : ""}
      </p>
    </div>
  );
}
