/** The replay batches of one region. */
import type { Metadata } from "next";
import { ReplaysPage } from "#components/replays/replays.tsx";

export const metadata: Metadata = { title: "Replays" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Replays</h1>
      <ReplaysPage />
    </>
  );
}
