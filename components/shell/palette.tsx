"use client";
/**
 * Ctrl K: pages, tenants and destinations by name, a delivery by id or key, and the frame's own actions. It leads to pages
 * and changes this browser; it must never change a row.
 */
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { useSearch } from "#components/queries/shell.ts";
import { type PaletteEntry, PaletteList } from "#components/ui/palette-list.tsx";
import { NAV_PAGES } from "./nav-pages.ts";
import { deliveryIdIn, fits, foundRows, silentRegions } from "./palette-match.ts";
import { type ShellControls, useShell } from "./shell-context.ts";

/** A person who types is asked for nothing until the keys rest. */
const SETTLE_MS = 150;
const LEAST_CHARS = 2;
const WORDS: Readonly<Record<string, string>> = {
  "/": "home late verdict",
  "/tenants": "customers merchants",
  "/destinations": "endpoints urls webhooks",
  "/deliveries": "events",
  "/dead-letters": "dlq failed",
  "/regions": "workers claims drain",
  "/audit": "history who",
  "/settings": "profile access tokens policies preferences",
};

/** Mounted while it is open. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const router = useRouter();
  const shell = useShell();
  const wanted = text.trim();
  const settled = useSettled(wanted);
  const search = useSearch(settled);

  function choose(run: () => void): () => void {
    return () => {
      onClose();
      run();
    };
  }

  const go = (href: string) => choose(() => router.push(href));
  const found = settled.length >= LEAST_CHARS && search.data !== undefined ? foundRows(search.data) : [];
  const entries: PaletteEntry[] = [
    ...deliveryEntry(wanted, go),
    ...found.map(({ href, ...row }) => ({ ...row, onSelect: go(href) })),
    ...pageEntries(wanted, go),
    ...actionEntries(wanted, shell, choose),
  ];
  return (
    <PaletteList
      label="Find anything"
      placeholder="Tenant, destination, delivery id or key, page, action"
      text={text}
      onText={setText}
      entries={entries}
      status={statusOf(wanted, settled, search, entries.length)}
      onClose={onClose}
    />
  );
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function deliveryEntry(text: string, go: (href: string) => () => void): PaletteEntry[] {
  const id = deliveryIdIn(text);
  if (id === null) return [];
  return [
    { key: id, group: "Deliveries", label: "Open delivery", detail: id, onSelect: go(`/deliveries/${id}`) },
  ];
}

function pageEntries(text: string, go: (href: string) => () => void): PaletteEntry[] {
  const pages = [...NAV_PAGES, { href: "/about", label: "About" }];
  return pages
    .filter(({ href, label }) => fits({ label, words: `go page ${WORDS[href] ?? ""}` }, text))
    .map(({ href, label }) => ({ key: href, group: "Pages", label, onSelect: go(href) }));
}

function actionEntries(
  text: string,
  shell: ShellControls,
  choose: (run: () => void) => () => void,
): PaletteEntry[] {
  const actions = [
    {
      key: "live",
      label: shell.paused ? "Resume live updates" : "Pause live updates",
      run: shell.toggleLive,
      detail: "p",
    },
    { key: "copy", label: "Copy link to this page", run: () => void shell.copyLink(), detail: "u" },
    { key: "theme", label: "Change theme", run: shell.nextTheme, detail: "t", words: "dark light" },
    {
      key: "zone",
      label: "Change time zone: UTC or your own",
      run: shell.toggleZone,
      words: "utc local times",
    },
    { key: "help", label: "Keyboard shortcuts", run: shell.openHelp, detail: "?", words: "help keys" },
  ];
  return actions
    .filter((action) => fits(action, text))
    .map(({ key, label, run, detail }) => ({
      key,
      group: "Actions",
      label,
      ...(detail === undefined ? {} : { detail }),
      onSelect: choose(run),
    }));
}

function statusOf(
  wanted: string,
  settled: string,
  search: ReturnType<typeof useSearch>,
  count: number,
): string {
  if (wanted.length < LEAST_CHARS) return "";
  if (search.error !== null) return "Rows could not be searched. Pages and actions work.";
  if (wanted !== settled || search.isFetching) return "Searching";
  const silent = search.data === undefined ? [] : silentRegions(search.data);
  if (silent.length > 0) return `${silent.join(" and ")} did not answer: its rows are not searched.`;
  return count === 0 ? "Nothing found. Keys and ids must be whole." : "";
}
