"use client";
/** Opens the palette by pointer; its key is in the name. */
import type { ReactNode } from "react";
import { IconButton } from "#components/ui/button.tsx";
import { useShell } from "./shell-context.ts";

export function PaletteButton({ children }: { children: ReactNode }) {
  const { openPalette } = useShell();
  return (
    <IconButton label="Find anything (Ctrl K)" onClick={openPalette}>
      {children}
    </IconButton>
  );
}
