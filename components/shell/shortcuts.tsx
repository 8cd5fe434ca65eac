"use client";
/** Hears the keys of the page. It stays silent in fields, in dialogs and menus, with modifiers, and when switched off. */
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { useEffect, useRef } from "react";
import { usePreference } from "#components/ui/preferences.ts";
import { regionSuffix } from "./nav-pages.ts";
import { type ShellControls, useShell } from "./shell-context.ts";
import { type Command, type Pending, readKey } from "./shortcut-map.ts";
import { clearSelection, moveRow, runListAction, selectRow } from "./use-list-keys.ts";

/** Draws nothing. */
export function Shortcuts() {
  const shell = useShell();
  const router = useRouter();
  const enabled = usePreference("shortcuts") === "on";
  const pathname = usePathname();
  const region = useSearchParams().get("region");
  const pending = useRef<Pending>(null);

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.defaultPrevented || event.isComposing) return;
      if (isPaletteKey(event)) {
        if (isModalOpen()) return;
        event.preventDefault();
        shell.openPalette();
        return;
      }
      if (!enabled || isTyping(event.target) || isModalOpen()) return;
      const { command, pending: next } = readKey(event, pending.current, event.timeStamp);
      pending.current = next;
      if (command === null) return;
      if (command.kind === "go")
        router.push(`${command.href}${regionSuffix(region, pathname, command.href)}`);
      else if (!run(command, shell)) return;
      event.preventDefault();
    }
    window.addEventListener("keydown", onKey);
    // Says that the page has woken up: what is pressed on a page that only stands there is lost.
    document.documentElement.dataset.awake = "";
    return () => window.removeEventListener("keydown", onKey);
  }, [enabled, router, shell, pathname, region]);

  return null;
}

/** False when the key found nothing to do, so that the browser may have it. */
function run({ kind }: Exclude<Command, { kind: "go" }>, shell: ShellControls): boolean {
  switch (kind) {
    case "help":
      shell.openHelp();
      return true;
    case "filter":
      return focusFilter();
    case "next-row":
      moveRow(1);
      return true;
    case "previous-row":
      moveRow(-1);
      return true;
    case "select":
      selectRow(false);
      return true;
    case "select-range":
      selectRow(true);
      return true;
    case "escape":
      return clearSelection();
    case "previous-page":
      return runListAction("onPrevious");
    case "next-page":
      return runListAction("onNext");
    case "reload":
      return runListAction("onReload");
    case "toggle-live":
      shell.toggleLive();
      return true;
    case "copy-link":
      void shell.copyLink();
      return true;
    case "theme":
      shell.nextTheme();
      return true;
  }
}

function isPaletteKey(event: KeyboardEvent): boolean {
  const modified = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  return modified && event.key.toLowerCase() === "k";
}

const TYPED =
  'textarea, select, [contenteditable=""], [contenteditable=true], input:not([type=checkbox], [type=radio])';

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(`${TYPED}, dialog, [popover]`) !== null;
}

function isModalOpen(): boolean {
  return document.querySelector("dialog[open], [popover]:popover-open") !== null;
}

function focusFilter(): boolean {
  const first =
    document.querySelector<HTMLElement>("main search input[type=search]") ??
    document.querySelector<HTMLElement>("main search input, main search select, main search button");
  first?.focus();
  return first !== null;
}
