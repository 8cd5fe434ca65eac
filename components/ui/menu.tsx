"use client";
/**
 * A button that opens a short list of actions. The list is a popover of the browser: Escape and a press outside close it,
 * and the focus goes back to the button. An action that is not allowed stays in the list with the reason; it must never
 * be hidden, because what one may not do is part of the answer.
 */
import { Check, Ellipsis } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { cx } from "./cx.ts";

export interface MenuItem {
  key: string;
  label: string;
  onSelect: () => void;
  /** Why it cannot be chosen. Absent: it can. */
  disabled?: string | undefined;
}

export interface MenuProps {
  /** Names the button; shown on hover and read aloud. */
  label: string;
  items: readonly MenuItem[];
  /** What the button shows; three dots when absent. */
  children?: ReactNode;
  className?: string;
  /** Key of the item in force, for a menu that is a choice. */
  selected?: string;
}

const GAP_PX = 4;
const EDGE_PX = 8;
const WIDTH_PX = 248;

/** Arrow keys, Home and End move along the items; Enter and Space choose. */
export function Menu({ label, items, children, className, selected }: MenuProps) {
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  function choose(item: MenuItem) {
    if (item.disabled !== undefined) return;
    // The focus is back on the button before the action opens something that will return it there.
    list.current?.hidePopover();
    item.onSelect();
  }

  return (
    <>
      <button
        ref={trigger}
        type="button"
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={label}
        title={label}
        className={cx(
          "inline-flex h-8 min-w-8 shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-md px-2 text-muted text-table",
          "transition-colors duration-100 hover:bg-hover hover:text-fg max-md:h-11 max-md:min-w-11",
          className,
        )}
      >
        {children ?? <Ellipsis aria-hidden="true" className="size-4" />}
      </button>
      <div
        ref={list}
        id={id}
        role="menu"
        aria-label={label}
        tabIndex={-1}
        popover="auto"
        onToggle={(event) => {
          if (event.newState === "open") openBeside(trigger.current, list.current);
        }}
        onKeyDown={(event) => moveFocus(event, list.current)}
        className="fixed inset-auto m-0 rounded-lg border border-line bg-surface p-1 text-fg shadow-overlay"
        style={{ width: WIDTH_PX }}
      >
        {items.map((item) => (
          <Item key={item.key} item={item} selected={selected} onChoose={() => choose(item)} />
        ))}
      </div>
    </>
  );
}

function Item({
  item,
  selected,
  onChoose,
}: {
  item: MenuItem;
  selected: string | undefined;
  onChoose: () => void;
}) {
  const chosen = selected === item.key;
  return (
    <button
      type="button"
      {...(selected === undefined ? { role: "menuitem" } : { role: "menuitemradio", "aria-checked": chosen })}
      tabIndex={-1}
      aria-disabled={item.disabled !== undefined}
      onClick={onChoose}
      className={cx(
        "flex min-h-8 w-full items-center gap-2 rounded-md px-2.5 py-1 text-left text-table outline-offset-[-2px] max-md:min-h-11",
        item.disabled === undefined
          ? "hover:bg-hover focus-visible:bg-hover"
          : "cursor-not-allowed text-faint",
      )}
    >
      <span className="min-w-0 flex-1">
        {item.label}
        {item.disabled === undefined ? null : <span className="block text-axis">{item.disabled}</span>}
      </span>
      {chosen ? <Check aria-hidden="true" className="size-3.5 text-accent" /> : null}
    </button>
  );
}

function itemsOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
}

/** Under the button where there is room, above it otherwise, and never over the edge of the window. */
function openBeside(trigger: HTMLElement | null, list: HTMLElement | null): void {
  if (trigger === null || list === null) return;
  const box = trigger.getBoundingClientRect();
  const height = list.offsetHeight;
  const below = box.bottom + GAP_PX + height <= window.innerHeight - EDGE_PX;
  const left = Math.min(box.right - WIDTH_PX, window.innerWidth - WIDTH_PX - EDGE_PX);
  list.style.left = `${Math.max(EDGE_PX, left)}px`;
  list.style.top = `${Math.max(EDGE_PX, below ? box.bottom + GAP_PX : box.top - GAP_PX - height)}px`;
  itemsOf(list)[0]?.focus();
}

function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const items = itemsOf(list);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = targetOf(event.key, at, items.length);
  if (next === null) {
    if (event.key === "Tab") list?.hidePopover();
    return;
  }
  event.preventDefault();
  items[next]?.focus();
}

function targetOf(key: string, at: number, count: number): number | null {
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}
