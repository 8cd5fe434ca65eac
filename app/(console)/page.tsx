/** The overview: is anything late, for whom, and why. */
import type { Metadata } from "next";
import { OverviewPage } from "#components/overview/overview.tsx";

export const metadata: Metadata = { title: "Overview" };

export default function Page() {
  return (
    <>
      <h1 className="sr-only">Overview</h1>
      <OverviewPage />
    </>
  );
}
