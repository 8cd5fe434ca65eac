"use client";
/**
 * What the frame itself can do, by key, by palette and by button: open the palette and the help, pause live updates, copy
 * the link, change theme and zone. One place, so that a key and a button can never do different things.
 */
import { useTheme } from "next-themes";
import { type ReactNode, useMemo, useState } from "react";
import { useLiveSwitch } from "#components/queries/live.tsx";
import { clockSkewMs } from "#components/queries/server-clock.ts";
import { useToast } from "#components/ui/toast.tsx";
import { setZone, useZone } from "#components/ui/zone.tsx";
import { AnnouncerProvider } from "./announcer.tsx";
import { absoluteAddress } from "./copy-link.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { nextTheme } from "./next-theme.ts";
import { Palette } from "./palette.tsx";
import { ShellContext, type ShellControls } from "./shell-context.ts";
import { Shortcuts } from "./shortcuts.tsx";

/** Stands around everything that the frame holds. */
export function ShellControlsProvider({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const shell = useControls(setOpen);
  return (
    <ShellContext value={shell}>
      <AnnouncerProvider>
        {children}
        <Shortcuts />
        {open === "palette" ? <Palette onClose={() => setOpen(null)} /> : null}
        {open === "help" ? <HelpDialog onClose={() => setOpen(null)} /> : null}
      </AnnouncerProvider>
    </ShellContext>
  );
}

function useControls(setOpen: (what: "palette" | "help") => void): ShellControls {
  const toast = useToast();
  const { theme, setTheme } = useTheme();
  const zone = useZone();
  const { paused, toggle } = useLiveSwitch();
  return useMemo(
    () => ({
      openPalette: () => setOpen("palette"),
      openHelp: () => setOpen("help"),
      toggleLive: toggle,
      paused,
      nextTheme: () => setTheme(nextTheme(theme)),
      toggleZone: () => setZone(zone.startsWith("utc") ? "local" : "utc"),
      copyLink: async () => {
        const { href, note } = absoluteAddress(window.location.href, Date.now() - clockSkewMs());
        try {
          await navigator.clipboard.writeText(href);
          toast(`Link copied. ${note}`.trim());
        } catch {
          toast("The browser refused to copy the link. It stands in the address bar.", { tone: "warn" });
        }
      },
    }),
    [setOpen, toast, theme, setTheme, zone, paused, toggle],
  );
}
