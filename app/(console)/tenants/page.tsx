/** The tenants of all regions in scope. */
import type { Metadata } from "next";
import { TenantsPage } from "#components/tenants/tenants.tsx";

export const metadata: Metadata = { title: "Tenants" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Tenants</h1>
      <TenantsPage />
    </>
  );
}
