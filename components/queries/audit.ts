"use client";
/** Reads the audit of one region, and the actions that its filter offers. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { AuditPage } from "#db/console/list-audit.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import { toQuery } from "./dead-letters.ts";
import type { Filters } from "./deliveries.ts";
import { useLive, useOnce } from "./live.tsx";

/** One page. */
export function useAudit(filters: Filters): UseQueryResult<RegionAnswer<AuditPage>, Error> {
  return useLive<RegionAnswer<AuditPage>>(`/api/v1/audit?${toQuery(filters)}`);
}

/** Actions that stand there; they change seldom and are read once per visit. */
export function useAuditActions(region: Region): UseQueryResult<RegionAnswer<{ actions: string[] }>, Error> {
  return useOnce<RegionAnswer<{ actions: string[] }>>(`/api/v1/audit/actions?region=${region}`);
}

/** The file with the filters of the list: everything that matches, not one page. */
export function auditExportPath({ cursor: _cursor, limit: _limit, ...filters }: Filters): string {
  return `/api/v1/audit/export?${toQuery(filters)}`;
}
