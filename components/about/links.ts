/** Doors for programs that the about page names. A test checks that exactly those are linked that exist. */

export interface AboutLink {
  href: string;
  label: string;
  /** Set it with the route. */
  exists: boolean;
}

export const CANDIDATES: readonly AboutLink[] = [
  { href: "/openapi.json", label: "OpenAPI", exists: true },
  { href: "/metrics", label: "Metrics", exists: true },
];

export const ABOUT_LINKS = CANDIDATES.filter(({ exists }) => exists);
