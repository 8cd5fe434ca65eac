/** Where a change is written down: names the entry of the audit and opens it among what was done to the same target. */
import Link from "next/link";
import type { Region } from "#domain/region.ts";
import { ShortId } from "./short-id.tsx";

export interface AuditEntryLinkProps {
  region: Region;
  /** Public id of what was changed, or the region's name. */
  target: string;
  /** `aud_...` */
  auditId: string;
}

export function AuditEntryLink({ region, target, auditId }: AuditEntryLinkProps) {
  return (
    <Link
      href={`/audit?${new URLSearchParams({ region, target, panel: auditId })}`}
      prefetch={false}
      className="inline-flex min-h-8 max-w-full items-center gap-1 rounded-sm text-accent text-axis underline-offset-2 hover:underline"
    >
      Audit entry <ShortId id={auditId} />
    </Link>
  );
}
