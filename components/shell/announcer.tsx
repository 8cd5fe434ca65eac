"use client";
/** The one polite live region of the pages. Results of a person's own press are toasts; this is for what happens by itself. */
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import { usePreference } from "#components/ui/preferences.ts";
import { createAnnouncements } from "./announcements.ts";

export type Announce = (kind: string, text: string) => void;

const AnnounceContext = createContext<Announce>(() => {});

/** Has a text read aloud, at most one in ten seconds. Texts of one kind replace each other while they wait. */
export function useAnnounce(): Announce {
  return useContext(AnnounceContext);
}

/** Holds the region. With calm updates nothing is read by itself. */
export function AnnouncerProvider({ children }: { children: ReactNode }) {
  const [queue] = useState(createAnnouncements);
  const [text, setText] = useState("");
  const calm = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isCalm = usePreference("calm") === "on";

  useEffect(() => {
    calm.current = isCalm;
  }, [isCalm]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const [announce] = useState<Announce>(() => {
    function read() {
      const next = queue.take(Date.now());
      if (next !== null) setText(next);
      const waitMs = queue.waitMs(Date.now());
      timer.current = waitMs === null ? undefined : setTimeout(read, waitMs);
    }
    return (kind: string, message: string) => {
      if (calm.current) return;
      queue.add(kind, message);
      clearTimeout(timer.current);
      read();
    };
  });

  return (
    <AnnounceContext value={announce}>
      {children}
      <p role="status" aria-live="polite" className="sr-only" data-testid="announcer">
        {text}
      </p>
    </AnnounceContext>
  );
}
