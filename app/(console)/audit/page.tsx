/** The audit of one region. */
import type { Metadata } from "next";
import { AuditPageView } from "#components/audit/audit.tsx";

export const metadata: Metadata = { title: "Audit" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Audit</h1>
      <AuditPageView />
    </>
  );
}
