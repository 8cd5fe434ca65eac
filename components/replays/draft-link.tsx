"use client";
/** The way from dead letters to a new batch. It only leads there: nothing is drafted by a press on it. */
import Link from "next/link";
import { useSignedIn } from "#components/shell/signed-in.tsx";

const LOOK =
  "inline-flex h-8 shrink-0 items-center justify-center whitespace-nowrap rounded-md border border-line-strong bg-surface px-2.5 font-medium text-fg text-table hover:bg-hover max-md:h-11";

export interface DraftReplayLinkProps {
  /** Null: there is nothing to lead to, and `refusal` says why. */
  path: string | null;
  /** Empty: the reason stands elsewhere already. */
  refusal?: string | null;
  /** "Draft replay", "Draft replay of 3 ticked". */
  label?: string;
}

export function DraftReplayLink({ path, refusal = null, label = "Draft replay" }: DraftReplayLinkProps) {
  const may = useSignedIn()?.actions.includes("replay_draft") ?? false;
  const reason = may ? refusal : "Drafting a replay needs the role support or more.";
  if (path === null || reason !== null) {
    return (
      <span className="inline-flex flex-wrap items-center gap-2">
        <button type="button" disabled className={`${LOOK} opacity-50`}>
          {label}
        </button>
        {reason === null || reason === "" ? null : <span className="text-muted text-table">{reason}</span>}
      </span>
    );
  }
  return (
    <Link href={path} prefetch={false} className={LOOK}>
      {label}
    </Link>
  );
}
