"use client";
/**
 * Looks for the tenant of the same slug in the other regions of the reader's scope, with its version and what may be done.
 * Read once when a dialog opens and again with "Reload values". A region that does not answer is not "no such tenant".
 */
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { fetchJson, ProblemError } from "#components/queries/fetch-json.ts";
import { useRegions } from "#components/shell/signed-in.tsx";
import type { TenantControlView } from "#db/console/control-views.ts";
import type { TenantList } from "#db/console/list-tenants.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { TenantAnswer } from "#db/console/read-tenant.ts";
import type { Region } from "#domain/region.ts";
import { type ControlTarget, viewPath } from "./control-request.ts";
import type { FoundTwin, Twin } from "./region-parts.ts";
import { useFreshControl } from "./use-control-view.ts";

const NOT_FOUND = 404;

export interface Twins {
  /** Those that are there, and those of which it is not known; without those that are not there. */
  twins: readonly Exclude<Twin, { readonly at: "none" }>[];
  reading: boolean;
  /** Why a choice cannot be sent yet, or null: its version may be an old one. */
  problem: string | null;
  chosen: readonly FoundTwin[];
  choose: (region: Region, checked: boolean) => void;
  /** Reads them again; the choice stays. */
  again: () => void;
}

/** Of a target that is no tenant there are none. */
export function useTwins(target: ControlTarget): Twins {
  const regions = useRegions();
  const [wanted, setWanted] = useState<readonly Region[]>([]);
  const answer = useFreshControl<TenantControlView>(target).data;
  const slug = target.kind === "tenant" && answer?.status === "ok" ? answer.data.slug : null;
  const others = slug === null ? [] : regions.filter((region) => region !== target.region);
  const queries = useQueries({
    queries: others.map((region) => ({
      queryKey: ["control", "twin", region, slug],
      queryFn: ({ signal }: { signal: AbortSignal }) => readTwin(target, region, slug ?? "", signal),
      staleTime: 0,
      gcTime: 0,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    })),
  });
  const twins = queries.flatMap(({ data, isError }, index): Twin[] => {
    const region = others[index];
    if (isError && region !== undefined) return [{ region, at: "unknown" }];
    return data === undefined ? [] : [data];
  });
  const reading = queries.some(({ isFetching }) => isFetching);
  const chosen = twins.filter(
    (twin): twin is FoundTwin => twin.at === "found" && wanted.includes(twin.region),
  );
  return {
    twins: twins.filter((twin) => twin.at !== "none"),
    reading,
    problem: reading && chosen.length > 0 ? "The other region is being read. Press again in a moment." : null,
    chosen,
    choose: (region, checked) =>
      setWanted((before) => [...before.filter((one) => one !== region), ...(checked ? [region] : [])]),
    again: () => {
      for (const query of queries) void query.refetch();
    },
  };
}

async function readTwin(
  target: ControlTarget,
  region: Region,
  slug: string,
  signal: AbortSignal,
): Promise<Twin> {
  try {
    const id = await findTwin(region, slug, signal);
    if (id === "unknown" || id === "none") return { region, at: id };
    const control = viewPath({ ...target, region, id });
    const read = await fetchJson<RegionAnswer<TenantControlView>>(control, signal);
    return read.status === "ok" ? { region, at: "found", view: read.data } : { region, at: "unknown" };
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === NOT_FOUND) return { region, at: "none" };
    throw error;
  }
}

/** By the list, for most tenants have no twin, and a browser writes each 404 into its console as an error. */
async function findTwin(region: Region, slug: string, signal: AbortSignal): Promise<string> {
  const query = new URLSearchParams({ region, q: slug, sort: "name" });
  const list = await fetchJson<TenantList>(`/api/v1/tenants?${query}`, signal);
  if (list.regions[0]?.status !== "ok") return "unknown";
  const row = list.rows.find((one) => one.slug === slug);
  if (row !== undefined) return row.id;
  if (list.next === null) return "none";
  // More tenants have this text in their names than a page holds.
  const path = `/api/v1/tenants/${encodeURIComponent(slug)}?region=${region}`;
  const found = await fetchJson<RegionAnswer<TenantAnswer>>(path, signal);
  if (found.status !== "ok") return "unknown";
  return found.data.tenant.state === "deleted" ? "none" : found.data.tenant.id;
}
