"use client";
/** Cancel, and the one button that sends. While a request is out it says so and cannot be pressed again. */
import { Button } from "#components/ui/button.tsx";
import { cx } from "#components/ui/cx.ts";
import { StatusText } from "#components/ui/status.tsx";

export interface FormButtonsProps {
  formId: string;
  label: string;
  busy: boolean;
  danger: boolean;
  onCancel: () => void;
}

export function FormButtons({ formId, label, busy, danger, onCancel }: FormButtonsProps) {
  return (
    <>
      <span role="status" className="mr-auto min-w-0 text-table">
        {busy ? <StatusText tone="accent" label="Requested, not applied yet" /> : null}
      </span>
      <Button onClick={onCancel}>Cancel</Button>
      <button
        type="submit"
        form={formId}
        disabled={busy}
        className={cx(
          "inline-flex min-h-8 min-w-0 items-center justify-center rounded-md px-3 py-1 font-medium text-table",
          "transition-colors duration-100 hover:brightness-95 disabled:opacity-50 max-md:min-h-11",
          danger ? "bg-danger text-canvas" : "bg-accent-solid text-white",
        )}
      >
        {label}
      </button>
    </>
  );
}
