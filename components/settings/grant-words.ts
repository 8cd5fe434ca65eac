/** A grant in words. Pure. */
import { plural } from "#components/ui/format.ts";
import type { Role } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";

export const ROLE_WORDS: Readonly<Record<Role, { label: string; may: string }>> = {
  viewer: { label: "Viewer", may: "sees everything in scope" },
  support: { label: "Support", may: "pauses up to 4 h, lowers limits, sorts dead letters" },
  operator: {
    label: "Operator",
    may: "pauses up to 7 days, changes limits, cancels, stops a region's claims",
  },
  admin: { label: "Admin", may: "does everything, and gives access" },
};

/** "Operator in US and EU, 2 tenants, sees bodies". */
export function scopeWords(grant: {
  role: Role;
  regions: readonly Region[];
  tenants: number | null;
  canReveal: boolean;
}): string {
  const where = grant.regions.map((region) => region.toUpperCase()).join(" and ");
  const whom = grant.tenants === null ? "" : `, ${plural(grant.tenants, "tenant")}`;
  return `${ROLE_WORDS[grant.role].label} in ${where}${whom}${grant.canReveal ? ", sees bodies" : ""}`;
}
