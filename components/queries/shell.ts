"use client";
/** What the frame, the settings and the about page read. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { PeopleAnswer } from "#db/console/access/people.ts";
import type { TokenEntry } from "#db/console/access/service-tokens.ts";
import type { ActiveControlsAnswer } from "#db/console/list-active-controls.ts";
import type { DeliveryPage } from "#db/console/list-deliveries.ts";
import type { PoliciesAnswer } from "#db/console/list-policies.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { SchemaVersion } from "#db/console/read-schema-versions.ts";
import type { SavedViews } from "#db/console/saved-views.ts";
import type { SearchAnswer } from "#db/console/search.ts";
import type { SavedViewPage } from "#domain/saved-view.ts";
import { useLive, useOnce } from "./live.tsx";

export const SAVED_VIEWS_PATH = "/api/v1/saved-views";
export const PEOPLE_PATH = "/api/v1/people";
export const TOKENS_PATH = "/api/v1/tokens";

/** What is held on purpose in all regions in scope. */
export function useActiveControls(): UseQueryResult<ActiveControlsAnswer, Error> {
  return useLive<ActiveControlsAnswer>("/api/v1/active-controls");
}

/** Rows by name, host, id or key. `text` shorter than two characters asks nothing. */
export function useSearch(text: string): UseQueryResult<SearchAnswer, Error> {
  return useOnce<SearchAnswer>(`/api/v1/search?${new URLSearchParams({ q: text })}`, text.length >= 2);
}

/** Own and shared views of a page. */
export function useSavedViews(page: SavedViewPage, enabled: boolean): UseQueryResult<SavedViews, Error> {
  return useOnce<SavedViews>(`${SAVED_VIEWS_PATH}?page=${page}`, enabled);
}

/** Rows of a list of deliveries; null while they are not known, and when nobody can tell. */
export function useViewCount(query: string): DeliveryPage["total"] {
  const answer = useOnce<RegionAnswer<DeliveryPage>>(`/api/v1/deliveries?${query}`).data;
  return answer?.status === "ok" ? answer.data.total : null;
}

/** People and grants; for administrators. */
export function usePeople(enabled: boolean): UseQueryResult<PeopleAnswer, Error> {
  return useOnce<PeopleAnswer>(PEOPLE_PATH, enabled);
}

/** Service tokens; for administrators. */
export function useTokens(enabled: boolean): UseQueryResult<{ tokens: TokenEntry[] }, Error> {
  return useOnce<{ tokens: TokenEntry[] }>(TOKENS_PATH, enabled);
}

/** Retry policies and objectives; read again when one was written. */
export function usePolicies(): UseQueryResult<PoliciesAnswer, Error> {
  return useLive<PoliciesAnswer>("/api/v1/policies");
}

/** As app/about.ts answers it. */
export interface About {
  version: string;
  environment: string;
  node: string;
  build: "production" | "development";
  regions: RegionAnswer<SchemaVersion>[];
  settings: { name: string; value: string | null }[];
}

/** Build, schema, settings. */
export function useAbout(): UseQueryResult<About, Error> {
  return useOnce<About>("/api/v1/about");
}
