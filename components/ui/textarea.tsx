"use client";
/** Several lines of text with the count of what is still missing or left. It never cuts off what was pasted. */
import { cx } from "./cx.ts";
import { Field, type FieldProps, INPUT } from "./field.tsx";
import { countWords } from "./field-words.ts";

export interface TextareaProps extends Omit<FieldProps, "children"> {
  value: string;
  onChange: (value: string) => void;
  minChars: number;
  maxChars: number;
  rows?: number;
  autoFocus?: boolean;
}

/** The count is part of the hint, so that it is read with the field and not at every key. */
export function Textarea({
  value,
  onChange,
  minChars,
  maxChars,
  rows = 3,
  autoFocus = false,
  hint,
  ...field
}: TextareaProps) {
  return (
    <Field
      {...field}
      hint={
        <span className="flex flex-wrap justify-between gap-x-4">
          <span>{hint}</span>
          <span>{countWords(value.trim().length, minChars, maxChars)}</span>
        </span>
      }
    >
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          value={value}
          data-autofocus={autoFocus ? "" : undefined}
          onChange={(event) => onChange(event.target.value)}
          className={cx(INPUT, "block resize-y py-1.5")}
        />
      )}
    </Field>
  );
}
