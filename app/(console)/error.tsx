"use client";
/** A page that could not be drawn. The error's own text stays in the log of the server. */
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";

export default function ConsoleError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <>
      <h1 className="sr-only">Error</h1>
      <Notice
        kind="error"
        title="This page could not be drawn"
        actions={<Button onClick={reset}>Try again</Button>}
      >
        Deliveries are not affected: workers never ask the console.{" "}
        {error.digest ? `Reference ${error.digest}.` : null}
      </Notice>
    </>
  );
}
