/** What this console is: build, schema, settings. */
import type { Metadata } from "next";
import { AboutPage } from "#components/about/about.tsx";

export const metadata: Metadata = { title: "About" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">About</h1>
      <AboutPage />
    </>
  );
}
