/** One tenant of one region. */
import type { Metadata } from "next";
import { TenantPage } from "#components/tenants/tenant.tsx";

export const metadata: Metadata = { title: "Tenant" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <TenantPage id={decodeURIComponent(id)} />;
}
