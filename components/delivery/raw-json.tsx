"use client";
/** The answer of the API as it was sent, indented but never read into values: a large number keeps all its digits. */
import { useState } from "react";
import { fetchText } from "#components/queries/fetch-json.ts";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { indentJson } from "#domain/json-text.ts";
import { TextBlock } from "./text-block.tsx";

const READ_TIMEOUT_MS = 10_000;

export function RawJson({ id }: { id: string }) {
  const [text, setText] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);

  async function show() {
    setFailed(false);
    try {
      const path = `/api/v1/deliveries/${encodeURIComponent(id)}`;
      setText(indentJson(await fetchText(path, AbortSignal.timeout(READ_TIMEOUT_MS))));
    } catch {
      setFailed(true);
    }
  }

  return (
    <section aria-label="Raw JSON" className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Button expanded={text !== null} onClick={() => (text === null ? void show() : setText(null))}>
          {text === null ? "Show raw JSON" : "Hide raw JSON"}
        </Button>
        {text === null ? null : <CopyButton text={text} what="raw JSON" />}
        <span role="alert" className="text-danger text-table empty:hidden">
          {failed ? "It could not be read. Try again." : ""}
        </span>
      </div>
      {text === null ? null : <TextBlock label="Raw JSON of the delivery" text={text} />}
    </section>
  );
}
