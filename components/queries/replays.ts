"use client";
/**
 * Reads and paths of replay batches. Commands are sent by components/controls/use-command.ts, with the version that was
 * shown; nothing here sends one by itself, and no read is asked again while live updates are paused.
 */
import type { UseQueryResult } from "@tanstack/react-query";
import { useQuery } from "@tanstack/react-query";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { ReplayPreview } from "#db/console/replay/preview.ts";
import type {
  ReplayDetail,
  ReplayItemPage,
  ReplayPage,
  ReplayPolicyView,
  ReplayReport,
  ReplaySeries,
  ReplaySummaryAnswer,
} from "#db/console/replay/replay-views.ts";
import type { ReplaySelection } from "#domain/commands-replay.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayVerb } from "#domain/replay-actions.ts";
import { toQuery } from "./dead-letters.ts";
import type { Filters } from "./deliveries.ts";
import { useLive } from "./live.tsx";
import { postJson } from "./post-json.ts";

/** One page of a region's batches: `region`, `tab`, `cursor`, `limit`. */
export function useReplays(filters: Filters): UseQueryResult<RegionAnswer<ReplayPage>, Error> {
  return useLive<RegionAnswer<ReplayPage>>(`/api/v1/replays?${toQuery(filters)}`);
}

/** How many of a region stand in each tab. */
export function useReplaySummary(region: Region): UseQueryResult<ReplaySummaryAnswer, Error> {
  return useLive<ReplaySummaryAnswer>(`/api/v1/replays/summary?region=${region}`);
}

/** One batch by its public id. */
export function useReplay(region: Region, id: string): UseQueryResult<RegionAnswer<ReplayDetail>, Error> {
  return useLive<RegionAnswer<ReplayDetail>>(replayApiPath(region, id));
}

/** The curves of a batch. */
export function useReplaySeries(
  region: Region,
  id: string,
  enabled = true,
): UseQueryResult<RegionAnswer<ReplaySeries>, Error> {
  return useLive<RegionAnswer<ReplaySeries>>(replayApiPath(region, id, "series"), enabled);
}

/** One page of a batch's entries: `state`, `destination`, `cursor`, `limit`. */
export function useReplayItems(
  region: Region,
  id: string,
  filters: Filters,
): UseQueryResult<RegionAnswer<ReplayItemPage>, Error> {
  return useLive<RegionAnswer<ReplayItemPage>>(
    `/api/v1/replays/${encodeURIComponent(id)}/items?${toQuery({ ...filters, region })}`,
  );
}

/** What came of a batch that has ended. */
export function useReplayReport(
  region: Region,
  id: string,
  enabled = true,
): UseQueryResult<RegionAnswer<ReplayReport>, Error> {
  return useLive<RegionAnswer<ReplayReport>>(replayApiPath(region, id, "report"), enabled);
}

/** The limits and thresholds in force in a region. */
export function useReplayPolicy(region: Region): UseQueryResult<RegionAnswer<ReplayPolicyView>, Error> {
  return useLive<RegionAnswer<ReplayPolicyView>>(replayPolicyApiPath(region));
}

/** Where the policy is read, and its next version is sent to. */
export function replayPolicyApiPath(region: Region): string {
  return `/api/v1/replays/policy?region=${region}`;
}

/**
 * What a selection means now. Asked once for each selection, and again only when the person asks: the number on the button
 * must not change under the pointer. Null: nothing is asked.
 */
export function useReplayPreview(
  region: Region,
  selection: ReplaySelection | null,
  limit: number,
): UseQueryResult<RegionAnswer<ReplayPreview>, Error> {
  return useQuery<RegionAnswer<ReplayPreview>, Error>({
    queryKey: ["replay-preview", region, selection, limit],
    queryFn: () =>
      postJson<RegionAnswer<ReplayPreview>>(`/api/v1/replays/preview?region=${region}`, { selection, limit }),
    enabled: selection !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

type Part = ReplayVerb | "series" | "report";

/** A batch in the API: itself, one of its reads, or one of its commands. */
export function replayApiPath(region: Region, id: string, part?: Part): string {
  return `/api/v1/replays/${encodeURIComponent(id)}${part === undefined ? "" : `/${part}`}?region=${region}`;
}

/** Where a new batch is sent to. */
export function newReplayApiPath(region: Region): string {
  return `/api/v1/replays?region=${region}`;
}

/** The page of a batch. */
export function replayPath(region: Region, id: string): string {
  return `/replays/${encodeURIComponent(id)}?region=${region}`;
}

/** What an ended batch came to, as a file: `format` is added by whoever links to it. */
export function replayReportExportPath(region: Region, id: string): string {
  return `/api/v1/replays/${encodeURIComponent(id)}/report/export?region=${region}`;
}

/** Every entry of a batch, as a file: `format` is added by whoever links to it. */
export function replayItemsExportPath(region: Region, id: string, filters: Filters = {}): string {
  const { cursor: _cursor, limit: _limit, ...kept } = filters;
  return `/api/v1/replays/${encodeURIComponent(id)}/items/export?${toQuery({ ...kept, region })}`;
}
