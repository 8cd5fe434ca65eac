"use client";
/**
 * A number as people type it, with steps. It keeps the text: what is not a number stays in sight with the error of its
 * owner, and is never turned into another number.
 */
import { Minus, Plus } from "lucide-react";
import { IconButton } from "./button.tsx";
import { cx } from "./cx.ts";
import { Field, type FieldProps, INPUT } from "./field.tsx";
import { steppedText } from "./field-words.ts";

export interface NumberFieldProps extends Omit<FieldProps, "children"> {
  /** Names the field for the step buttons. */
  name: string;
  value: string;
  onChange: (value: string) => void;
  /** What a step changes; the steps never leave min and max. */
  step?: number;
  min: number;
  max: number;
  unit?: string;
  placeholder?: string;
  autoFocus?: boolean;
}

/** Text field with a minus and a plus. */
export function NumberField({
  name,
  value,
  onChange,
  step = 1,
  min,
  max,
  unit,
  placeholder,
  autoFocus = false,
  ...field
}: NumberFieldProps) {
  const move = (by: number) => onChange(steppedText(value, by, min, max));
  return (
    <Field {...field}>
      {(control) => (
        <span className="flex items-center gap-1">
          <input
            {...control}
            type="text"
            inputMode={step < 1 ? "decimal" : "numeric"}
            autoComplete="off"
            placeholder={placeholder}
            value={value}
            data-autofocus={autoFocus ? "" : undefined}
            onChange={(event) => onChange(event.target.value)}
            className={cx(INPUT, "h-9 max-w-36 text-right max-md:h-11")}
          />
          {unit ? <span className="mx-1 text-muted text-table">{unit}</span> : null}
          <IconButton label={`Lower ${name}`} onClick={() => move(-step)}>
            <Minus aria-hidden="true" className="size-4" />
          </IconButton>
          <IconButton label={`Raise ${name}`} onClick={() => move(step)}>
            <Plus aria-hidden="true" className="size-4" />
          </IconButton>
        </span>
      )}
    </Field>
  );
}
