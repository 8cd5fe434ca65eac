"use client";
/** What every page stands in: theme, URL state and the query cache. */
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { type ReactNode, Suspense } from "react";
import { LiveProvider } from "#components/queries/live.tsx";

/** The theme is written as `data-theme` on the document before the first paint, by a script that carries the nonce. */
export function Providers({ nonce, children }: { nonce: string; children: ReactNode }) {
  return (
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
      nonce={nonce}
    >
      <Suspense>
        <NuqsAdapter>
          <LiveProvider>{children}</LiveProvider>
        </NuqsAdapter>
      </Suspense>
    </ThemeProvider>
  );
}
