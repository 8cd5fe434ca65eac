/** The button that sends a form in a dialog's footer, where it stands outside of the form. */
import type { ReactNode } from "react";
import { cx } from "#components/ui/cx.ts";

export interface SubmitButtonProps {
  /** Id of the form. */
  form: string;
  busy: boolean;
  tone?: "accent" | "danger";
  children: ReactNode;
}

export function SubmitButton({ form, busy, tone = "accent", children }: SubmitButtonProps) {
  return (
    <button
      type="submit"
      form={form}
      disabled={busy}
      className={cx(
        "inline-flex h-8 shrink-0 items-center justify-center whitespace-nowrap rounded-md px-3 font-medium text-table disabled:opacity-50 max-md:h-11",
        tone === "accent"
          ? "bg-accent-solid text-white hover:opacity-90"
          : "border border-danger-mark bg-danger-soft text-danger hover:opacity-90",
      )}
    >
      {busy ? "Sending" : children}
    </button>
  );
}
