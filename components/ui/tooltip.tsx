"use client";
/**
 * A short text beside its trigger, on hover and on keyboard focus; Escape hides it.
 * It is drawn at the end of the document, so that no scroll region cuts it off.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { cx } from "./cx.ts";

const GAP_PX = 6;
const EDGE_PX = 8;
const WIDTH_PX = 280;

interface Place {
  left: number;
  top: number;
  below: boolean;
}

export interface TooltipProps {
  tip: ReactNode;
  children: ReactNode;
  className?: string;
}

/** Shows `tip` while the pointer or the focus is on the children. */
export function Tooltip({ tip, children, className }: TooltipProps) {
  const id = useId();
  const trigger = useRef<HTMLSpanElement>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const open = place !== null;

  useEffect(() => {
    if (!open) return;
    const hide = () => setPlace(null);
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && hide();
    window.addEventListener("scroll", hide, { capture: true, passive: true });
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("scroll", hide, { capture: true });
      window.removeEventListener("keydown", onKey);
    };
  }, [open]);

  function show() {
    const box = trigger.current?.getBoundingClientRect();
    if (box) setPlace(placeBeside(box));
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hover and focus only reveal text that is also described.
    <span
      ref={trigger}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the text must be reachable without a pointer.
      tabIndex={0}
      aria-describedby={open ? id : undefined}
      onMouseEnter={show}
      onMouseLeave={() => setPlace(null)}
      onFocus={show}
      onBlur={() => setPlace(null)}
      className={cx("cursor-default", className)}
    >
      {children}
      {open ? createPortal(<Tip id={id} place={place} tip={tip} />, document.body) : null}
    </span>
  );
}

function Tip({ id, place, tip }: { id: string; place: Place; tip: ReactNode }) {
  return (
    <span
      role="tooltip"
      id={id}
      style={{ left: place.left, top: place.top, maxWidth: WIDTH_PX }}
      className={cx(
        "pointer-events-none fixed z-50 w-max rounded-md bg-fg px-2.5 py-1.5 text-canvas text-table shadow-overlay",
        place.below ? "" : "-translate-y-full",
      )}
    >
      {tip}
    </span>
  );
}

function placeBeside(box: DOMRect): Place {
  const below = box.top < 80;
  const widest = Math.max(EDGE_PX, window.innerWidth - WIDTH_PX - EDGE_PX);
  return {
    left: Math.min(Math.max(EDGE_PX, box.left), widest),
    top: below ? box.bottom + GAP_PX : box.top - GAP_PX,
    below,
  };
}
