"use client";
/** What every page stands in: theme, URL state and the query cache. */
import { ThemeProvider } from "next-themes";
import { NuqsAdapter } from "nuqs/adapters/next/app";
import type { ReactNode } from "react";
import { LiveProvider } from "#components/queries/live.tsx";
import { ToastProvider } from "#components/ui/toast.tsx";

/**
 * No boundary stands around the page: it would begin the answer before the page knows whether it is a redirect or a 404.
 * The theme is written as `data-theme` on the document before the first paint, by a script that carries the nonce.
 */
export function Providers({ nonce, children }: { nonce: string; children: ReactNode }) {
  return (
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
      nonce={nonce}
    >
      <NuqsAdapter>
        <LiveProvider>
          <ToastProvider>{children}</ToastProvider>
        </LiveProvider>
      </NuqsAdapter>
    </ThemeProvider>
  );
}
