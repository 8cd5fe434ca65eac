/** How the regions run. */
import type { Metadata } from "next";
import { RegionsPage } from "#components/regions/regions.tsx";

export const metadata: Metadata = { title: "Regions" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Regions</h1>
      <RegionsPage />
    </>
  );
}
