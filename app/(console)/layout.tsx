/** The frame of every page behind the sign-in. Who is not signed in is led there, and back to this page afterwards. */
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { Shell } from "#components/shell/shell.tsx";
import { SignedInProvider } from "#components/shell/signed-in.tsx";
import { profileOf } from "../access/profile.ts";
import { pagePath, readVisitor } from "../access/visitor.ts";
import { readEnvironmentName } from "../config.ts";

export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const visitor = await readVisitor();
  if (visitor.kind !== "in") {
    const query = new URLSearchParams({ next: await pagePath() });
    if (visitor.kind !== "out") query.set("reason", visitor.kind);
    else if (visitor.expired) query.set("reason", "expired");
    redirect(`/login?${query}`);
  }
  return (
    <SignedInProvider value={profileOf(visitor.principal)}>
      <Shell environment={readEnvironmentName()}>{children}</Shell>
    </SignedInProvider>
  );
}
