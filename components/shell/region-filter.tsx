"use client";
/**
 * The region a page looks at, kept in the URL. The overview can show all of them; row lists show one at a time.
 * Pages about one thing have no filter.
 */
import { usePathname } from "next/navigation";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { Segmented } from "#components/ui/segmented.tsx";

type Choice = "all" | "us" | "eu";
const CHOICES = ["us", "eu"] as const;
const REGIONS: readonly { value: Choice; label: string }[] = [
  { value: "us", label: "US" },
  { value: "eu", label: "EU" },
];
const ALL: readonly { value: Choice; label: string }[] = [{ value: "all", label: "All regions" }, ...REGIONS];

/** Changing the region forgets the page of a list, which belongs to the other region. */
export function RegionFilter() {
  const pathname = usePathname();
  const [{ region }, setQuery] = useQueryStates(
    {
      region: parseAsStringLiteral(CHOICES),
      cursor: parseAsString,
      tenant: parseAsString,
      destination: parseAsString,
    },
    { history: "push" },
  );
  const isOverview = pathname === "/";
  if (!isOverview && pathname !== "/deliveries" && pathname !== "/dead-letters") return null;
  const value: Choice = region ?? (isOverview ? "all" : "us");
  return (
    <Segmented
      label="Region"
      value={value}
      options={isOverview ? ALL : REGIONS}
      onChange={(next) =>
        void setQuery({ region: next === "all" ? null : next, cursor: null, tenant: null, destination: null })
      }
    />
  );
}
