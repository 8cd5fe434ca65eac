/** The dead letters of one region. */
import type { Metadata } from "next";
import { DeadLettersPage } from "#components/dead-letters/dead-letters.tsx";

export const metadata: Metadata = { title: "Dead letters" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Dead letters</h1>
      <DeadLettersPage />
    </>
  );
}
