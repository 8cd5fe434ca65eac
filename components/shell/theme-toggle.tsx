"use client";
/** Light, dark or the system's own. The system's is the default and stays one press away. */
import { Monitor, Moon, Sun } from "lucide-react";
import { useTheme } from "next-themes";
import { useSyncExternalStore } from "react";
import { IconButton } from "#components/ui/button.tsx";
import { nextTheme } from "./next-theme.ts";

const ICONS = { system: Monitor, light: Sun, dark: Moon };
const never = () => () => {};

/** One press goes to the next of the three. */
export function ThemeToggle() {
  const { theme, setTheme } = useTheme();
  // The stored choice is unknown on the server: both sides first paint the system's icon.
  const mounted = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  const current = mounted && (theme === "light" || theme === "dark") ? theme : "system";
  const next = nextTheme(current);
  const Icon = ICONS[current];
  return (
    <IconButton label={`Theme: ${current}. Change to ${next}`} onClick={() => setTheme(next)}>
      <Icon aria-hidden="true" className="size-4" />
    </IconButton>
  );
}
