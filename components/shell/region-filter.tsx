"use client";
/**
 * The region a page looks at, kept in the URL. The overview can show all of them; row lists show one at a time.
 * Pages about one thing have no filter.
 */
import { usePathname } from "next/navigation";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { Segmented } from "#components/ui/segmented.tsx";
import { useListRegion, useRegions } from "./signed-in.tsx";

type Choice = "all" | "us" | "eu";
const CHOICES = ["us", "eu"] as const;
const ALL = { value: "all", label: "All regions" } as const;

/** Offers the regions in scope. Changing the region forgets the page of a list, which belongs to the other region. */
export function RegionFilter() {
  const pathname = usePathname();
  const regions = useRegions();
  const [{ region }, setQuery] = useQueryStates(
    {
      region: parseAsStringLiteral(CHOICES),
      cursor: parseAsString,
      tenant: parseAsString,
      destination: parseAsString,
    },
    { history: "push" },
  );
  const listRegion = useListRegion(region);
  const isOverview = pathname === "/";
  if (!isOverview && pathname !== "/deliveries" && pathname !== "/dead-letters") return null;
  const value: Choice = isOverview && region === null && regions.length > 1 ? "all" : listRegion;
  const offered = regions.map((name) => ({ value: name, label: name.toUpperCase() }));
  return (
    <Segmented
      label="Region"
      value={value}
      options={isOverview && regions.length > 1 ? [ALL, ...offered] : offered}
      onChange={(next) =>
        void setQuery({ region: next === "all" ? null : next, cursor: null, tenant: null, destination: null })
      }
    />
  );
}
