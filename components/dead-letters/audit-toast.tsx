/** What the corner says after a change: what was done, and where it is written down. */
import Link from "next/link";
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
      {message}{" "}
      <Link
        href={`/audit?region=${region}&target=${target}`}
        prefetch={false}
        className="inline-flex min-h-6 max-w-full items-center break-all font-mono text-accent text-axis underline-offset-2 hover:underline"
      >
        {auditId}
      </Link>
    </>
  );
}
