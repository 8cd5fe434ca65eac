"use client";
/**
 * The region a page looks at, kept in the URL. Some pages can show all of them; row lists show one at a time.
 * Pages about one thing have no filter.
 */
import { usePathname } from "next/navigation";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { Segmented } from "#components/ui/segmented.tsx";
import { regionsShown } from "./nav-pages.ts";
import { useListRegion, useRegions } from "./signed-in.tsx";

type Choice = "all" | "us" | "eu";
const CHOICES = ["us", "eu"] as const;
const ALL = { value: "all", label: "All regions" } as const;
/** They name rows of the region before. */
const FORGOTTEN = { cursor: null, tenant: null, destination: null, panel: null, group: null } as const;

/** Offers the regions in scope. Changing the region forgets the page of a list, which belongs to the other region. */
export function RegionFilter() {
  const shown = regionsShown(usePathname());
  const regions = useRegions();
  const [{ region }, setQuery] = useQueryStates(
    {
      region: parseAsStringLiteral(CHOICES),
      cursor: parseAsString,
      tenant: parseAsString,
      destination: parseAsString,
      panel: parseAsString,
      group: parseAsString,
    },
    { history: "push" },
  );
  const listRegion = useListRegion(region);
  if (shown === "none") return null;
  const many = shown === "many" && regions.length > 1;
  const value: Choice = many && region === null ? "all" : listRegion;
  const offered = regions.map((name) => ({ value: name, label: name.toUpperCase() }));
  return (
    <Segmented
      label="Region"
      value={value}
      options={many ? [ALL, ...offered] : offered}
      onChange={(next) => void setQuery({ ...FORGOTTEN, region: next === "all" ? null : next })}
    />
  );
}
