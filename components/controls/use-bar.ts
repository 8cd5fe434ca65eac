"use client";
/** What a bar of controls needs of the live view: the values, the permits, and why there are none. */
import type { UseQueryResult } from "@tanstack/react-query";
import { ProblemError } from "#components/queries/fetch-json.ts";
import type { Permits } from "#db/console/control-views.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";

export interface BarState<V> {
  view: V | null;
  permit: Permits | null;
  /** Why nothing can be changed now; null: it can. Values that are only stale do not stop anybody: the API checks again. */
  outage: string | null;
}

export function barState<V extends { readonly permit: Permits }>(
  query: UseQueryResult<RegionAnswer<V>, Error>,
): BarState<V> {
  const answer = query.data;
  if (answer?.status === "ok") return { view: answer.data, permit: answer.data.permit, outage: null };
  if (answer?.status === "unavailable") {
    return {
      view: null,
      permit: null,
      outage: `${answer.region.toUpperCase()} does not answer: ${answer.detail}`,
    };
  }
  if (query.error === null) return { view: null, permit: null, outage: null };
  const detail =
    query.error instanceof ProblemError ? query.error.problem.detail : "The console does not answer.";
  return { view: null, permit: null, outage: detail };
}
