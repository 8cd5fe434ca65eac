"use client";
/** The rail of screens under 768 px: a modal dialog from the left. The browser keeps the focus inside it. */
import { Menu, X } from "lucide-react";
import { useRef } from "react";
import { IconButton } from "#components/ui/button.tsx";
import { Brand } from "./brand.tsx";
import { NavLinks } from "./nav.tsx";

/** The menu button and the sheet it opens. */
export function NavSheet() {
  const sheet = useRef<HTMLDialogElement>(null);
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
        <nav aria-label="Main">
          <NavLinks onNavigate={close} />
        </nav>
      </dialog>
    </>
  );
}
