/** A new replay batch from a selection of dead letters. */
import type { Metadata } from "next";
import { NewReplayPage } from "#components/replays/new-replay.tsx";

export const metadata: Metadata = { title: "Draft replay" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Draft replay</h1>
      <NewReplayPage />
    </>
  );
}
