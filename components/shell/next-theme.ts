/** The order in which one press after the other changes the theme. */

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** system, light, dark, and round again; whatever is unknown counts as the last. */
export function nextTheme(theme: string | undefined): Theme {
  const at = (THEMES as readonly (string | undefined)[]).indexOf(theme);
  return THEMES[(at + 1) % THEMES.length] ?? "system";
}
