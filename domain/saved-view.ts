/**
 * A saved view: the filters of a list under a name. It keeps what a person filtered by and nothing of where they were in
 * the list; relative ranges stay relative. Pure.
 *
 * A shared view must not tell somebody of rows outside their scope: one that names a region is for those who see that
 * region, and one that names a tenant, a destination or an id is for those who see all tenants there.
 */
import { SluiceError } from "./errors.ts";
import { type AccessScope, regionsOf } from "./permissions.ts";
import { isRegion, type Region } from "./region.ts";

/** Pages whose filters can be saved, by the first part of their path. */
export const SAVED_VIEW_PAGES = ["tenants", "destinations", "deliveries", "dead-letters", "audit"] as const;
export type SavedViewPage = (typeof SAVED_VIEW_PAGES)[number];

/** Views of one person, and views that are shared on one page. */
export const MAX_SAVED_VIEWS = 50;
export const MAX_VIEW_NAME_CHARS = 80;
export const MAX_VIEW_QUERY_CHARS = 2_000;

/** Where one is in a list, and what is open beside it: no part of a view. */
const PLACE: ReadonlySet<string> = new Set(["cursor", "panel", "limit"]);
/** Filters by a property that every tenant's rows can have. All others could name a row. */
const GENERAL: ReadonlySet<string> = new Set([
  "region",
  "state",
  "reason",
  "code",
  "class",
  "type",
  "attempts",
  "age",
  "from",
  "to",
  "range",
  "sort",
  "view",
  "tab",
  "status",
  "result",
  "cause",
  "marked",
  "action",
]);

export interface ViewContent {
  name: string;
  /** Sorted, without the question mark: two equal views have one text. */
  query: string;
  /** Null: all regions. */
  region: Region | null;
  /** True when it could name a tenant, a destination or another row. */
  namesRows: boolean;
}

/**
 * Checks and cleans what a person saves.
 * @throws SluiceError `invalid_body`
 */
export function viewContent(name: string, query: string): ViewContent {
  const clean = name.trim().replaceAll(/\s+/g, " ");
  if (clean === "" || clean.length > MAX_VIEW_NAME_CHARS || /\p{Cc}/u.test(clean)) {
    throw wrong("name", `must be 1 to ${MAX_VIEW_NAME_CHARS} characters`);
  }
  if (query.length > MAX_VIEW_QUERY_CHARS || /[\p{Cc}#]/u.test(query)) {
    throw wrong("query", `must be the filters of an address, at most ${MAX_VIEW_QUERY_CHARS} characters`);
  }
  const params = new URLSearchParams(query);
  for (const place of PLACE) params.delete(place);
  params.sort();
  const region = params.get("region");
  return {
    name: clean,
    query: params.toString(),
    region: isRegion(region) ? region : null,
    namesRows: [...params.keys()].some((key) => !GENERAL.has(key)),
  };
}

/** What a reader may be told of shared views: their regions, and those of them in which they see every tenant. */
export function viewReach(scope: AccessScope): { regions: Region[]; whole: Region[] } {
  const regions = regionsOf(scope);
  return { regions, whole: regions.filter((region) => scope[region] === null) };
}

function wrong(pointer: string, detail: string): SluiceError {
  return new SluiceError("invalid_body", `${pointer} ${detail}`, { errors: [{ pointer, detail }] });
}
