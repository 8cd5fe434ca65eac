"use client";
/**
 * Short messages in the corner after something was done. One that tells of a failure stays until it is closed; the others leave by
 * themselves, those with a choice later, but never while they are pointed at or hold the focus, and at once when a newer one tells
 * of the same thing. A toast is not the only place of a result, nor of a choice: what must be found again stands on a page.
 */
import { X } from "lucide-react";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { IconButton } from "./button.tsx";
import { type Tone, ToneIcon } from "./status.tsx";

export interface ToastOptions {
  tone?: Tone;
  /** Links or buttons under the message. */
  actions?: ReactNode;
  /** What it tells of: an older one of the same subject is not true any more, and leaves. */
  subject?: string | null;
}

export type ShowToast = (message: ReactNode, options?: ToastOptions) => void;

interface Toast extends Required<ToastOptions> {
  id: number;
  message: ReactNode;
}

const SHOWN_MS = 8_000;
const SHOWN_WITH_CHOICE_MS = 60_000;
/** Older ones make room. */
const MAX_TOASTS = 4;

const ToastContext = createContext<ShowToast>(() => {});

/** Shows a message. Works on every page behind the sign-in. */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

/** Stands around all pages and holds the corner. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const lastId = useRef(0);
  const show = useCallback<ShowToast>((message, { tone = "ok", actions = null, subject = null } = {}) => {
    lastId.current += 1;
    const toast = { id: lastId.current, message, tone, actions, subject };
    const stand = (older: Toast) => subject === null || older.subject !== subject;
    setToasts((before) => [...before.filter(stand), toast].slice(-MAX_TOASTS));
  }, []);
  const close = useCallback(
    (id: number) => setToasts((before) => before.filter((toast) => toast.id !== id)),
    [],
  );
  return (
    <ToastContext value={show}>
      {children}
      <div
        aria-live="polite"
        className="pointer-events-none fixed right-4 bottom-4 z-50 grid w-[calc(100vw-2rem)] max-w-sm gap-2"
      >
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onClose={() => close(toast.id)} />
        ))}
      </div>
    </ToastContext>
  );
}

function ToastCard({ toast, onClose }: { toast: Toast; onClose: () => void }) {
  const [held, setHeld] = useState(false);
  const stays = held || toast.tone === "danger";
  const shownMs = toast.actions === null ? SHOWN_MS : SHOWN_WITH_CHOICE_MS;
  const close = useRef(onClose);

  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => close.current(), shownMs);
    return () => clearTimeout(timer);
  }, [stays, shownMs]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing at it only keeps it from leaving.
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="pointer-events-auto flex items-start gap-2.5 rounded-lg border border-line bg-surface p-3 text-table shadow-overlay"
    >
      <ToneIcon tone={toast.tone} className="mt-0.5 size-4" />
      <div className="grid min-w-0 flex-1 gap-2">
        <div className="break-words">{toast.message}</div>
        {toast.actions === null ? null : <div className="flex flex-wrap gap-2">{toast.actions}</div>}
      </div>
      <IconButton label="Close message" size="small" onClick={onClose}>
        <X aria-hidden="true" className="size-3.5" />
      </IconButton>
    </div>
  );
}
