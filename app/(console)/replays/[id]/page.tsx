/** One replay batch of one region: its draft, its review, its run, its report. */
import type { Metadata } from "next";
import { ReplayPage } from "#components/replay/replay.tsx";

export const metadata: Metadata = { title: "Replay" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <ReplayPage id={decodeURIComponent(id)} />;
}
