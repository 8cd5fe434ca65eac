/** One delivery with its timeline. */
import type { Metadata } from "next";
import { DeliveryPage } from "#components/delivery/delivery.tsx";
import { readTraceUrl } from "../../../config.ts";

export const metadata: Metadata = { title: "Delivery" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <DeliveryPage id={decodeURIComponent(id)} traceUrl={readTraceUrl()} />;
}
