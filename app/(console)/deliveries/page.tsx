/** The deliveries of one region. */
import type { Metadata } from "next";
import { DeliveriesPage } from "#components/deliveries/deliveries.tsx";
import { readTraceUrl } from "../../config.ts";

export const metadata: Metadata = { title: "Deliveries" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Deliveries</h1>
      <DeliveriesPage traceUrl={readTraceUrl()} />
    </>
  );
}
