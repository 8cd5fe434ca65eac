"use client";
/**
 * Tabs over the parts of one page. Arrow keys move the focus, Enter or Space opens: a tab is a place in the address, so
 * moving along them must not leave a trail of history entries.
 */
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { cx } from "./cx.ts";
import { formatCount } from "./format.ts";

export interface Tab {
  /** Unique among all tabs of the page: the id of its panel is made of it. */
  key: string;
  label: string;
  /** Absent: not counted. A count must be of the scope and time that the tab shows. */
  count?: number;
  /** There are more than were counted. */
  more?: boolean;
}

export interface TabsProps {
  /** Names the tabs for screen readers. */
  label: string;
  /** The key of the open tab. */
  value: string;
  onChange: (key: string) => void;
  tabs: readonly Tab[];
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** The row of tabs; its panels are `TabPanel`s with the same keys. */
export function Tabs({ label, value, onChange, tabs }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);

  function move(event: KeyboardEvent<HTMLDivElement>) {
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const next = targetOf(event.key, at, buttons.length);
    if (at < 0 || next === null) return;
    event.preventDefault();
    buttons[next]?.focus();
  }

  return (
    <div
      ref={list}
      role="tablist"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={move}
      className="scroll-quiet flex gap-1 overflow-x-auto border-line border-b"
    >
      {tabs.map((tab) => {
        const open = tab.key === value;
        return (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={tabId(tab.key)}
            aria-selected={open}
            aria-controls={open ? panelId(tab.key) : undefined}
            tabIndex={open ? 0 : -1}
            onClick={() => onChange(tab.key)}
            className={cx(
              "-mb-px inline-flex h-9 shrink-0 items-center gap-1.5 whitespace-nowrap border-b-2 px-2.5 text-table max-md:h-11",
              "outline-offset-[-2px] transition-colors duration-100",
              open
                ? "border-accent-solid font-medium text-fg"
                : "border-transparent text-muted hover:border-line-strong hover:text-fg",
            )}
          >
            {tab.label}
            {tab.count === undefined ? null : (
              <span className="rounded-full bg-subtle px-1.5 text-axis text-muted">
                {formatCount(tab.count)}
                {tab.more ? "+" : ""}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}

export interface TabPanelProps {
  /** The key of its tab. */
  tab: string;
  /** The key of the open tab. */
  value: string;
  children: ReactNode;
}

/** Nothing while another tab is open: what is not shown reads nothing. */
export function TabPanel({ tab, value, children }: TabPanelProps) {
  if (tab !== value) return null;
  return (
    <div role="tabpanel" id={panelId(tab)} aria-labelledby={tabId(tab)} className="min-w-0">
      {children}
    </div>
  );
}

function targetOf(key: string, at: number, count: number): number | null {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = STEPS[key];
  return step === undefined ? null : (at + step + count) % count;
}

function tabId(key: string): string {
  return `tab-${key}`;
}

function panelId(key: string): string {
  return `tabpanel-${key}`;
}
