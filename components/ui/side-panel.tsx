"use client";
/**
 * A panel at the right edge for one thing of a list, while the list stays usable beside it. It is not modal: nothing
 * behind it is locked. Escape closes it; the focus goes into it when it opens and back to where it was when it closes.
 */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./button.tsx";

export interface SidePanelProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  children: ReactNode;
}

/** Full width under 768 px. */
export function SidePanel({ open, ...rest }: SidePanelProps) {
  return open ? <OpenPanel {...rest} /> : null;
}

function OpenPanel({ onClose, title, children }: Omit<SidePanelProps, "open">) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  const close = useRef(onClose);

  useEffect(() => {
    close.current = onClose;
  });

  useEffect(() => {
    const opener = document.activeElement;
    const own = panel.current;
    own?.focus({ preventScroll: true });
    return () => {
      const left = own?.contains(document.activeElement) || document.activeElement === document.body;
      if (left && opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.key !== "Escape" || event.defaultPrevented || isInside(event.target, "dialog, [popover]"))
        return;
      // Whoever clears a selection on Escape sees that this press was for the panel.
      event.preventDefault();
      close.current();
    }
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  return (
    <section
      ref={panel}
      role="dialog"
      aria-modal="false"
      aria-labelledby={id}
      tabIndex={-1}
      className="fixed inset-y-0 right-0 z-40 flex w-full max-w-[44rem] flex-col border-line border-l bg-surface shadow-overlay outline-none max-md:max-w-none"
    >
      <header className="flex min-h-14 items-center gap-3 border-line border-b px-4 py-2">
        <h2 id={id} className="min-w-0 flex-1 truncate font-semibold text-lead tracking-tight">
          {title}
        </h2>
        <IconButton label="Close panel" onClick={onClose}>
          <X aria-hidden="true" className="size-4" />
        </IconButton>
      </header>
      <div className="scroll-quiet min-h-0 flex-1 overflow-y-auto overscroll-contain p-4">{children}</div>
    </section>
  );
}

function isInside(target: EventTarget | null, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null;
}
