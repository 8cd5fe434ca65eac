"use client";
/**
 * What stays at the top while the page scrolls. Its height is handed to the page, so that nothing that gets the focus is
 * ever hidden under it.
 */
import { type ReactNode, useEffect, useRef } from "react";

export function Bars({ children }: { children: ReactNode }) {
  const bars = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = bars.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      document.documentElement.style.setProperty("--bars", `${element.offsetHeight}px`);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={bars} className="sticky top-0 z-30 bg-surface">
      {children}
    </div>
  );
}
