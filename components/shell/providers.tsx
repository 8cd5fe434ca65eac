"use client";
/** What every page stands in: theme, URL state and the query cache. */
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import { type ReactNode, Suspense } from "react";
import { LiveProvider } from "#components/queries/live.tsx";

/** The theme is written as `data-theme` on the document before the first paint. */
export function Providers({ children }: { children: ReactNode }) {
  return (
    <ThemeProvider attribute="data-theme" defaultTheme="system" enableSystem disableTransitionOnChange>
      <Suspense>
        <NuqsAdapter>
          <LiveProvider>{children}</LiveProvider>
        </NuqsAdapter>
      </Suspense>
    </ThemeProvider>
  );
}
