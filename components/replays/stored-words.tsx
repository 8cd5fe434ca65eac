"use client";
/** A text that the product has stored of a batch: its moments in the reader's zone, its destinations by name and linked. */
import Link from "next/link";
import { actorWords } from "#components/ui/actor-words.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayLaneView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { type WordPart, wordParts } from "#domain/replay-words.ts";
import { destinationEnd } from "./stored-text.ts";

export interface StoredWordsProps {
  text: string;
  region: Region;
  /** They name its destinations. */
  lanes?: readonly Pick<ReplayLaneView, "destinationId" | "destinationName">[];
}

export function StoredWords({ text, region, lanes = [] }: StoredWordsProps) {
  // The text stands still, and so do its parts.
  return wordParts(text).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two parts can be the same words; only their place tells them apart.
    <Part key={index} part={part} region={region} lanes={lanes} />
  ));
}

function Part({ part, region, lanes }: Required<Omit<StoredWordsProps, "text">> & { part: WordPart }) {
  switch (part.kind) {
    case "time":
      return <Timestamp iso={part.text} named plain />;
    case "actor":
      return actorWords(part.text);
    case "destination":
      return (
        <Link
          href={`/destinations/${part.text}?region=${region}`}
          prefetch={false}
          className="underline underline-offset-4"
        >
          {lanes.find(({ destinationId }) => destinationId === part.text)?.destinationName ??
            destinationEnd(part.text)}
        </Link>
      );
    case "text":
      return part.text;
  }
}
