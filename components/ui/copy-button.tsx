"use client";
/** Copies one text. It says so in words, for eyes and for screen readers, and falls silent again. */
import { Check, Copy, X } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button.tsx";

const CONFIRM_MS = 1_600;
type CopyState = "idle" | "copied" | "refused";

/** A button that copies `text`; `what` names it ("delivery id"). */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<CopyState>("idle");

  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), CONFIRM_MS);
    return () => clearTimeout(timer);
  }, [state]);

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      // Browsers refuse the clipboard on plain http other than loopback; the text stays selectable.
      setState("refused");
    }
  }

  const Icon = state === "copied" ? Check : state === "refused" ? X : Copy;
  return (
    <>
      <IconButton label={`Copy ${what}`} onClick={copy} size="small">
        <Icon aria-hidden="true" className={state === "copied" ? "size-3.5 text-ok" : "size-3.5"} />
      </IconButton>
      <span role="status" className="sr-only">
        {state === "copied"
          ? `${what} copied`
          : state === "refused"
            ? `The browser refused to copy the ${what}`
            : ""}
      </span>
    </>
  );
}
