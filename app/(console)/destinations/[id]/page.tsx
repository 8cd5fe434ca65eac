/** One destination with what holds it back. */
import type { Metadata } from "next";
import { DestinationPage } from "#components/destinations/destination.tsx";

export const metadata: Metadata = { title: "Destination" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <DestinationPage id={decodeURIComponent(id)} />;
}
