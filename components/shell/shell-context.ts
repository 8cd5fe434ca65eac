"use client";
/** The frame's own controls, as keys, palette and buttons reach them. */
import { createContext, useContext } from "react";

export interface ShellControls {
  openPalette: () => void;
  openHelp: () => void;
  toggleLive: () => void;
  /** True when nothing polls. */
  paused: boolean;
  copyLink: () => Promise<void>;
  nextTheme: () => void;
  toggleZone: () => void;
}

export const ShellContext = createContext<ShellControls | null>(null);

/** Only inside the frame. @throws Error outside of it */
export function useShell(): ShellControls {
  const shell = useContext(ShellContext);
  if (shell === null) throw new Error("The frame's controls are used outside of the frame.");
  return shell;
}
