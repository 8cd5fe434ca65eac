"use client";
/** The rail of screens under 768 px: a modal dialog from the left. The browser keeps the focus inside it. */
import { Menu, Search, X } from "lucide-react";
import { useRef } from "react";
import { IconButton } from "#components/ui/button.tsx";
import { Brand } from "./brand.tsx";
import { NavFoot, NavLinks } from "./nav.tsx";
import { useShell } from "./shell-context.ts";

/** The menu button and the sheet it opens. */
export function NavSheet() {
  const sheet = useRef<HTMLDialogElement>(null);
  const { openPalette } = useShell();
  const close = () => sheet.current?.close();
  return (
    <>
      <IconButton label="Open navigation" className="md:hidden" onClick={() => sheet.current?.showModal()}>
        <Menu aria-hidden="true" className="size-5" />
      </IconButton>
      <dialog
        ref={sheet}
        aria-label="Navigation"
        className="fixed inset-y-0 left-0 m-0 h-dvh max-h-none w-64 border-line border-r bg-surface p-3 text-fg shadow-overlay"
      >
        <div className="mb-3 flex items-center justify-between pl-2.5">
          <Brand />
          <IconButton label="Close navigation" onClick={close}>
            <X aria-hidden="true" className="size-4" />
          </IconButton>
        </div>
        <button
          type="button"
          onClick={() => {
            close();
            openPalette();
          }}
          className="mb-3 flex h-11 w-full items-center gap-2.5 rounded-md border border-line-strong px-2.5 text-muted"
        >
          <Search aria-hidden="true" className="size-4 shrink-0 text-faint" />
          Find anything
        </button>
        <nav aria-label="Main" className="grid gap-3">
          <NavLinks onNavigate={close} />
          <NavFoot onNavigate={close} />
        </nav>
      </dialog>
    </>
  );
}
