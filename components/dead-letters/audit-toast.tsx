/** What the corner says after a change: what was done, and where it is written down. */
import { AuditEntryLink } from "#components/ui/audit-entry-link.tsx";
import type { Region } from "#domain/region.ts";

export interface AuditToastProps {
  message: string;
  region: Region;
  /** `dlg_...` */
  target: string;
  /** `aud_...` */
  auditId: string;
}

export function AuditToast({ message, region, target, auditId }: AuditToastProps) {
  return (
    <>
      {message} <AuditEntryLink region={region} target={target} auditId={auditId} />
    </>
  );
}
