"use client";
/**
 * Which control dialog is open: at most one, whoever asked for it, a button of a page or the Undo of a message that has
 * outlived its page. It holds no value of any row.
 */
import { useSyncExternalStore } from "react";
import type { ControlRequest } from "./control-request.ts";

let open: { readonly id: number; readonly request: ControlRequest } | null = null;
let opened = 0;
/** Hosts on the page; the first one shows the dialog, so that it never stands there twice. */
let hosts: readonly symbol[] = [];
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** Opens the dialog of a control. Another one that is open makes room. */
export function openControl(request: ControlRequest): void {
  opened += 1;
  open = { id: opened, request };
  tell();
}

/** Closes it; nothing is kept. */
export function closeControl(): void {
  open = null;
  tell();
}

/** What is open, with a number that tells one opening from the next. */
export function useOpenControl(): typeof open {
  return useSyncExternalStore(
    subscribe,
    () => open,
    () => null,
  );
}

/** Enrols a host; returns the way out. */
export function enrolHost(host: symbol): () => void {
  hosts = [...hosts, host];
  tell();
  return () => {
    hosts = hosts.filter((each) => each !== host);
    tell();
  };
}

/** True for the one host that shows the dialog. */
export function useIsFirstHost(host: symbol): boolean {
  return useSyncExternalStore(
    subscribe,
    () => hosts[0] === host,
    () => false,
  );
}
