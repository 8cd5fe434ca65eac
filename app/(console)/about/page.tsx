/** What this console is: build, schema, settings. */
import type { Metadata } from "next";
import { AboutPage } from "#components/about/about.tsx";

export const metadata: Metadata = { title: "About" };

export default function Page() {
  return (
    <>
      <h1 className="sr-only">About</h1>
      <AboutPage />
    </>
  );
}
