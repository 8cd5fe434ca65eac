/** The pages that exist, for the rail, the sheet, the palette and the region filter. Pure. */
import {
  Building2,
  Gauge,
  type LucideIcon,
  MailX,
  MapPin,
  RotateCcw,
  ScrollText,
  Send,
  Settings,
  Webhook,
} from "lucide-react";

export interface NavPage {
  href: string;
  label: string;
  icon: LucideIcon;
}

/** In the order of the rail. */
export const NAV_PAGES: readonly NavPage[] = [
  { href: "/", label: "Overview", icon: Gauge },
  { href: "/tenants", label: "Tenants", icon: Building2 },
  { href: "/destinations", label: "Destinations", icon: Webhook },
  { href: "/deliveries", label: "Deliveries", icon: Send },
  { href: "/dead-letters", label: "Dead letters", icon: MailX },
  { href: "/replays", label: "Replays", icon: RotateCcw },
  { href: "/regions", label: "Regions", icon: MapPin },
  { href: "/audit", label: "Audit", icon: ScrollText },
  { href: "/settings", label: "Settings", icon: Settings },
];

/** Pages that can show several regions at once. */
const MANY_REGIONS: ReadonlySet<string> = new Set(["/", "/tenants", "/regions"]);
/** Lists of one region. */
const ONE_REGION: ReadonlySet<string> = new Set([
  "/destinations",
  "/deliveries",
  "/dead-letters",
  "/replays",
  "/audit",
]);

/** How many regions a page shows: pages about one thing have no filter. */
export function regionsShown(pathname: string): "many" | "one" | "none" {
  if (MANY_REGIONS.has(pathname)) return "many";
  return ONE_REGION.has(pathname) ? "one" : "none";
}

/** True for the page itself and for everything below it. */
export function isCurrent(href: string, pathname: string): boolean {
  return href === "/" ? pathname === "/" : pathname === href || pathname.startsWith(`${href}/`);
}

/**
 * Keeps the region while moving between pages, because it is the one filter that all of them share. But a page that shows all
 * regions shows one only where that was chosen on such a page: the region of a list, or of the one thing that was
 * looked at, would hide the other region from somebody who never asked for that.
 */
export function regionSuffix(region: string | null, from: string, to: string): string {
  if (to === "/settings" || (region !== "us" && region !== "eu")) return "";
  return MANY_REGIONS.has(to) && !MANY_REGIONS.has(from) ? "" : `?region=${region}`;
}
