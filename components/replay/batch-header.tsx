"use client";
/** The head of a batch: its state, how it got there, why it is paused or ended, and what may be done now. */
import dynamic from "next/dynamic";
import Link from "next/link";
import { useEffect, useRef, useState } from "react";
import { DraftReplayLink } from "#components/replays/draft-link.tsx";
import { Follows } from "#components/replays/follows.tsx";
import { stateWords } from "#components/replays/replay-words.ts";
import { scopeWords } from "#components/replays/replays-table.tsx";
import { newReplayPath } from "#components/replays/selection.ts";
import { storedText } from "#components/replays/stored-text.ts";
import { StoredWords } from "#components/replays/stored-words.tsx";
import { DetailHeader } from "#components/tenants/detail-header.tsx";
import { actorWords } from "#components/ui/actor-words.ts";
import { Button } from "#components/ui/button.tsx";
import { cx } from "#components/ui/cx.ts";
import { plural } from "#components/ui/format.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { sentence } from "#components/ui/sentence.ts";
import { StatusBadge } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useZone } from "#components/ui/zone.tsx";
import { isEnded } from "#domain/replay.ts";
import { type BatchVerb, LEADING, sharedReasons, VERB_WORDS, verbsOf } from "./action-words.ts";
import type { Seen } from "./seen.ts";
import { Stepper } from "./stepper.tsx";

/** Loaded when it is first opened. */
const ActionDialog = dynamic(() => import("./action-dialog.tsx"), { ssr: false });

export function BatchHeader({ region, view, asOf }: Seen) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DetailHeader
        crumbs={[{ label: "Replays", href: `/replays?region=${region}` }]}
        name={view.name}
        id={view.id}
        what="batch id"
        state={
          <span className="inline-flex flex-wrap items-center gap-2">
            <span className="text-muted">{region.toUpperCase()}</span>
            <StatusBadge {...stateWords(view.state, view.pausedBy)} />
          </span>
        }
        asOf={asOf}
        controls={<Actions region={region} view={view} asOf={asOf} />}
      />
      <Stepper view={view} />
      <Cause view={view} region={region} />
      <p className="max-w-prose text-table">
        {plural(view.items, "dead letter")} of {scopeWords(view.scope)}. Drafted by{" "}
        {actorWords(view.requestedBy)}: {view.reason}
        {view.ticket === null ? "" : ` (${view.ticket})`} <strong>The order can change:</strong> a replayed
        delivery can arrive after newer ones.
      </p>
      <Related region={region} view={view} asOf={asOf} />
      <p className="text-muted text-table">
        {view.expiresAt === null ? null : (
          <>
            {view.state === "in_review" ? "The review" : "The approval"} ends{" "}
            {relativeTo(view.expiresAt, asOf)}, at <Timestamp iso={view.expiresAt} form="clock" named />.{" "}
          </>
        )}
        {view.breakGlassBy === null
          ? null
          : `${actorWords(view.breakGlassBy)} went without the second person.`}
      </p>
    </div>
  );
}

const CAUSE_WORDS: Readonly<Partial<Record<Seen["view"]["state"], string>>> = {
  paused: "Paused",
  stopping: "Why it stops",
};

/** Why it is paused, stops or has ended, with its numbers. A pause by the product is told at once, whatever is being read. */
function Cause({ view, region }: Pick<Seen, "view" | "region">) {
  const zone = useZone();
  const { cause, pausedBy, state } = view;
  const shown = cause !== null && (state === "paused" || state === "stopping" || isEnded(state));
  const auto = state === "paused" && pausedBy === "auto";
  const told = useNewAlert(shown && (auto || state === "failed") ? `${state}: ${cause}` : null);
  return (
    <>
      <p role="alert" className="sr-only">
        {storedText(told, zone)}
      </p>
      {shown ? (
        <p
          className={cx(
            "rounded-md px-3 py-2.5",
            auto ? "bg-warn-soft text-warn" : state === "failed" ? "bg-danger-soft text-danger" : "bg-subtle",
          )}
        >
          <span className="font-medium">
            {auto ? "It paused by itself" : (CAUSE_WORDS[state] ?? "Why it ended")}:
          </span>{" "}
          <span className="break-words">
            <StoredWords text={sentence(cause)} region={region} lanes={view.lanes} />
          </span>
          {auto
            ? ` It was pause ${view.autoPauses} of ${view.policy.maxAutoPauses}; the last one ends the batch.`
            : ""}
        </p>
      ) : null}
    </>
  );
}

/** Text for the assertive region: only what came up while the page was open. */
function useNewAlert(text: string | null): string {
  const before = useRef<string | null | undefined>(undefined);
  const [told, setTold] = useState("");
  useEffect(() => {
    if (before.current !== undefined && before.current !== text) setTold(text ?? "");
    before.current = text;
  }, [text]);
  return told;
}

function Related({ region, view }: Seen) {
  const { parent, followUps, followUpItems, actions } = view;
  const link = "text-accent underline underline-offset-4";
  return (
    <>
      <Follows parent={parent} region={region} />
      {followUps.length === 0 ? null : (
        <p className="text-table">
          Followed by{" "}
          {followUps.map(({ id, name, state }, index) => (
            <span key={id}>
              {index === 0 ? "" : ", "}
              <Link href={`/replays/${id}?region=${region}`} prefetch={false} className={link}>
                {name}
              </Link>{" "}
              ({stateWords(state, null).label.toLowerCase()})
            </span>
          ))}
        </p>
      )}
      {followUpItems === 0 ? null : (
        <p className="flex flex-wrap items-center gap-2">
          <DraftReplayLink
            path={actions["follow-up"].allowed ? newReplayPath(region, { follow: view.id }) : null}
            refusal={actions["follow-up"].reason}
            label={`Draft follow-up of ${plural(followUpItems, "entry", "entries")} dead again`}
          />
        </p>
      )}
    </>
  );
}

function Actions({ region, view, asOf }: Seen) {
  const [open, setOpen] = useState<BatchVerb | null>(null);
  const verbs = verbsOf(view.state);
  const refused = verbs.flatMap((verb) => {
    const { reason } = view.actions[verb];
    return reason === null ? [] : [{ label: VERB_WORDS[verb].label, reason }];
  });
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap gap-2">
        {verbs.map((verb) => (
          <Button
            key={verb}
            variant={LEADING.includes(verb) ? "solid" : "plain"}
            disabled={!view.actions[verb].allowed}
            onClick={() => setOpen(verb)}
            className={VERB_WORDS[verb].danger ? "text-danger" : ""}
          >
            {VERB_WORDS[verb].label}
          </Button>
        ))}
      </div>
      {sharedReasons(refused).map(({ reason, labels }) => (
        <p key={reason} className="text-muted text-table">
          {labels.join(", ")}: {reason}
        </p>
      ))}
      {open === null ? null : (
        <ActionDialog
          key={open}
          verb={open}
          region={region}
          view={view}
          asOf={asOf}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}
