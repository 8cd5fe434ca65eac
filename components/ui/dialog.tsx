"use client";
/**
 * The one modal dialog, on the browser's own: it keeps the focus inside, Escape closes it, and what lies behind is inert.
 * Closing must never do anything but close: whoever opens it decides what is kept. Nothing closes it by a press outside,
 * because what was typed would be lost by a slip.
 */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./button.tsx";
import { cx } from "./cx.ts";

export interface DialogProps {
  open: boolean;
  /** Escape, the cross, or the browser's way back. */
  onClose: () => void;
  title: ReactNode;
  children: ReactNode;
  /** The buttons; they stay in sight while the body scrolls. */
  footer?: ReactNode;
  width?: keyof typeof WIDTHS;
  /** False while the fields are still being read; the focus goes to the first one when it becomes true. */
  ready?: boolean;
}

const WIDTHS = { narrow: "md:max-w-lg", wide: "md:max-w-2xl" };

/**
 * Focus starts on the element with `data-autofocus`, else on the first field, never on a button of the footer. It goes
 * back to what had it before.
 */
export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <OpenDialog {...rest} /> : null;
}

function OpenDialog({
  onClose,
  title,
  children,
  footer,
  width = "narrow",
  ready = true,
}: Omit<DialogProps, "open">) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useModal(dialog, ready);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      tabIndex={-1}
      onCancel={(event) => {
        // The owner takes the dialog away; the browser alone would leave it mounted and shut.
        event.preventDefault();
        onClose();
      }}
      className={cx(
        "fixed inset-0 m-auto flex max-h-[min(calc(100dvh-2rem),56rem)] w-[calc(100%-2rem)] flex-col overflow-hidden rounded-lg border border-line bg-surface p-0 text-fg shadow-overlay outline-none",
        "max-md:mb-0 max-md:max-h-[calc(100dvh-1.5rem)] max-md:w-full max-md:max-w-none max-md:rounded-b-none",
        WIDTHS[width],
      )}
    >
      <header className="flex items-start gap-3 border-line border-b py-3 pr-2 pl-5 max-md:pl-4">
        <h2 id={id} className="min-w-0 flex-1 break-words py-1 font-semibold text-lead tracking-tight">
          {title}
        </h2>
        <IconButton label="Close" onClick={onClose}>
          <X aria-hidden="true" className="size-4" />
        </IconButton>
      </header>
      <div className="scroll-quiet min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 py-4 max-md:px-4">
        {children}
      </div>
      {footer ? (
        <footer className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-5 py-3 max-md:px-4">
          {footer}
        </footer>
      ) : null}
    </dialog>
  );
}

/** Opens the dialog once it stands in the page and gives the focus back when it goes. */
function useModal(dialog: { readonly current: HTMLDialogElement | null }, ready: boolean): void {
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    const opener = document.activeElement;
    element.showModal();
    // Until there is a field the dialog itself has it: a reader hears the title, and Enter presses nothing.
    element.focus();
    return () => {
      if (element.open) element.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, [dialog]);
  useEffect(() => {
    const element = dialog.current;
    if (ready && element !== null && !isTyping(element)) (firstField(element) ?? element).focus();
  }, [dialog, ready]);
}

/** A person who is in a field already is left there. */
function isTyping(element: HTMLElement): boolean {
  const active = document.activeElement;
  return active !== null && element.contains(active) && active.matches(FIELDS);
}

const FIELDS = "input:not([type=hidden]):not(:disabled), textarea:not(:disabled), select:not(:disabled)";

/** A checked radio stands for its whole group. */
function firstField(element: HTMLElement): HTMLElement | null {
  const marked = element.querySelector<HTMLElement>("[data-autofocus]");
  if (marked !== null) return marked;
  const first = element.querySelector<HTMLInputElement>(FIELDS);
  if (first === null || first.type !== "radio") return first;
  const group = `input[type=radio][name="${CSS.escape(first.name)}"]:checked`;
  return element.querySelector<HTMLElement>(group) ?? first;
}
