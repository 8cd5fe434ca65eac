/** The destinations of one region. */
import type { Metadata } from "next";
import { DestinationsPage } from "#components/destinations/destinations.tsx";

export const metadata: Metadata = { title: "Destinations" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Destinations</h1>
      <DestinationsPage />
    </>
  );
}
