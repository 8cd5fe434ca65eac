/** Settings: one's own, and for administrators people, tokens and policies. */
import type { Metadata } from "next";
import { SettingsPage } from "#components/settings/settings.tsx";

export const metadata: Metadata = { title: "Settings" };

export default function Page() {
  return (
    <>
      <h1 className="mb-4 font-semibold text-figure tracking-tight">Settings</h1>
      <SettingsPage />
    </>
  );
}
