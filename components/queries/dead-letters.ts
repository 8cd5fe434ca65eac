"use client";
/** Reads the dead letters: by cause, one cause, and entry by entry; and the paths of their files and commands. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { Assignees } from "#db/console/access/assignees.ts";
import type { DeadLetterGroupPage } from "#db/console/list-dead-letter-groups.ts";
import type { DeadLetterPage } from "#db/console/list-dead-letters.ts";
import type { DeadLetterGroupView } from "#db/console/read-dead-letter-group.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import type { Filters } from "./deliveries.ts";
import { useLive, useOnce } from "./live.tsx";

/** One page of a region's causes. */
export function useDeadLetterGroups(
  filters: Filters,
  enabled: boolean,
): UseQueryResult<RegionAnswer<DeadLetterGroupPage>, Error> {
  return useLive<RegionAnswer<DeadLetterGroupPage>>(
    `/api/v1/dead-letter-groups?${toQuery(filters)}`,
    enabled,
  );
}

/** One page of a region's dead letters. */
export function useDeadLetterEntries(
  filters: Filters,
  enabled: boolean,
): UseQueryResult<RegionAnswer<DeadLetterPage>, Error> {
  return useLive<RegionAnswer<DeadLetterPage>>(`/api/v1/dead-letters?${toQuery(filters)}`, enabled);
}

/** One cause by its public id. */
export function useDeadLetterGroup(
  region: Region,
  id: string,
): UseQueryResult<RegionAnswer<DeadLetterGroupView>, Error> {
  return useLive<RegionAnswer<DeadLetterGroupView>>(`${groupPath(id)}?region=${region}`);
}

/** The people who can be named for a cause. */
export function useAssignees(region: Region, id: string): UseQueryResult<Assignees, Error> {
  return useOnce<Assignees>(`${groupPath(id, "assignees")}?region=${region}`);
}

/** `verb` absent: the cause itself. */
export function groupPath(id: string, verb?: string): string {
  return `/api/v1/dead-letter-groups/${encodeURIComponent(id)}${verb === undefined ? "" : `/${verb}`}`;
}

/** The file of a list with its filters: everything that matches, not one page. */
export function deadLetterExportPath(
  list: "dead-letters" | "dead-letter-groups",
  { cursor: _cursor, limit: _limit, ...filters }: Filters,
): string {
  return `/api/v1/${list}/export?${toQuery(filters)}`;
}

export function toQuery(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (value !== null && value !== "") query.set(name, value);
  return query.toString();
}
