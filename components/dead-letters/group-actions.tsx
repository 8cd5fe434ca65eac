"use client";
/** The buttons of one cause. What is not allowed stays in sight with the reason; there is no button that removes anything. */
import { useState } from "react";
import { DraftReplayLink } from "#components/replays/draft-link.tsx";
import { newReplayPath } from "#components/replays/selection.ts";
import { Button } from "#components/ui/button.tsx";
import type { DeadLetterGroupView } from "#db/console/read-dead-letter-group.ts";
import type { Region } from "#domain/region.ts";
import { MarkDialog } from "./mark-dialog.tsx";
import { TriageDialog, type TriageVerb } from "./triage-dialog.tsx";

export interface GroupActionsProps {
  region: Region;
  view: DeadLetterGroupView;
  asOf: string;
}

type Open = TriageVerb | "will-not-replay" | null;

export function GroupActions({ region, view, asOf }: GroupActionsProps) {
  const [open, setOpen] = useState<Open>(null);
  // The version after one's own change is known before the panel has been read again.
  const [own, setOwn] = useState(0);
  const version = Math.max(own, view.version);
  const close = () => setOpen(null);
  const { dead_letter_triage: triage, will_not_replay: mark } = view.permit;
  const refused = triage?.allowed ? null : (triage?.reason ?? "You may not change causes here.");
  const markRefused = mark?.allowed ? null : (mark?.reason ?? "You may not mark entries here.");
  const unmarked = view.count - view.willNotReplay;
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap gap-2">
        {verbsOf(view.state).map(({ verb, label }) => (
          <Button key={verb} disabled={refused !== null} onClick={() => setOpen(verb)}>
            {label}
          </Button>
        ))}
        <Button disabled={markRefused !== null || unmarked === 0} onClick={() => setOpen("will-not-replay")}>
          Will not replay
        </Button>
        <DraftReplayLink
          path={newReplayPath(region, { group: view.id, until: asOf })}
          refusal={unmarked === 0 ? "" : null}
        />
      </div>
      {refused === null ? null : <p className="text-muted text-table">{refused}</p>}
      {markRefused === null || markRefused === refused ? null : (
        <p className="text-muted text-table">{markRefused}</p>
      )}
      {unmarked === 0 ? (
        <p className="text-muted text-table">None of its entries is left to be replayed.</p>
      ) : null}
      {open === null ? null : open === "will-not-replay" ? (
        <MarkDialog region={region} view={view} version={version} asOf={asOf} onClose={close} />
      ) : (
        <TriageDialog
          key={open}
          verb={open}
          region={region}
          view={view}
          version={version}
          onChanged={(next) => setOwn(next)}
          onClose={close}
        />
      )}
    </div>
  );
}

interface Choice {
  verb: TriageVerb;
  label: string;
}

const ALWAYS: readonly Choice[] = [
  { verb: "assign", label: "Assign" },
  { verb: "note", label: "Note" },
];

function verbsOf(state: DeadLetterGroupView["state"]): readonly Choice[] {
  if (state === "replaying") return ALWAYS;
  if (state === "resolved") return [{ verb: "reopen", label: "Reopen" }, ...ALWAYS];
  const resolve: Choice = { verb: "resolve", label: "Mark resolved" };
  if (state === "acknowledged") return [resolve, { verb: "reopen", label: "Reopen" }, ...ALWAYS];
  return [{ verb: "acknowledge", label: "Acknowledge" }, resolve, ...ALWAYS];
}
