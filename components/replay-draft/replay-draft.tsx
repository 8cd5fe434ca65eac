"use client";
/**
 * A batch that is still being written: its steps one below the other, each saved by itself. Nothing on it sends anything; the
 * last step freezes the batch for a second person.
 */
import dynamic from "next/dynamic";
import { useCallback, useState } from "react";
import { ReadOnlyHere } from "#components/replays/new-replay.tsx";
import { Exclusions } from "#components/replays/preview-facts.tsx";
import { REPLAY_STATE_WORDS } from "#components/replays/replay-words.ts";
import { scopeWords } from "#components/replays/replays-table.tsx";
import { DetailHeader } from "#components/tenants/detail-header.tsx";
import { actorWords } from "#components/ui/actor-words.ts";
import { Button } from "#components/ui/button.tsx";
import { plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { AnnotateStep } from "./annotate-step.tsx";
import { InspectStep } from "./inspect-step.tsx";
import { PlanStep } from "./plan-step.tsx";
import { SentBack } from "./sent-back.tsx";
import { StepPanel } from "./step-parts.tsx";
import { ConditionList, SubmitStep } from "./submit-step.tsx";
import { type UnsavedStep, useVersion } from "./use-step.ts";

/** Loaded when it is opened. */
const CancelDialog = dynamic(() => import("./cancel-dialog.tsx"), { ssr: false });

export interface ReplayDraftProps {
  region: Region;
  /** As the page has read it, and goes on reading it. */
  view: ReplayDetail;
  /** Database time of the view, UTC. */
  asOf: string;
}

export function ReplayDraft({ region, view, asOf }: ReplayDraftProps) {
  const readOnly = useNarrow();
  const [version, setVersion] = useVersion(view);
  const [cancelling, setCancelling] = useState(false);
  const [unsaved, setUnsaved] = useState<readonly UnsavedStep[]>([]);
  const onUnsaved = useCallback((name: UnsavedStep, is: boolean) => {
    setUnsaved((before) => [...before.filter((one) => one !== name), ...(is ? [name] : [])]);
  }, []);
  const cancelRefused = view.actions.cancel.reason;
  const step = { region, view, version, onChanged: setVersion, readOnly, asOf };
  const red = view.conditions.filter(({ breached }) => breached).length;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DetailHeader
        crumbs={[{ label: "Replays", href: `/replays?region=${region}&tab=drafts` }]}
        name={view.name}
        id={view.id}
        what="batch id"
        state={
          <span className="inline-flex flex-wrap items-center gap-2">
            <span className="text-muted">{region.toUpperCase()}</span>
            <StatusBadge {...REPLAY_STATE_WORDS.draft} />
          </span>
        }
        asOf={asOf}
        controls={
          <div className="flex flex-wrap items-center gap-3">
            <Button disabled={cancelRefused !== null} onClick={() => setCancelling(true)}>
              Cancel draft
            </Button>
            {cancelRefused === null ? null : <span className="text-muted text-table">{cancelRefused}</span>}
          </div>
        }
      />
      {readOnly ? <ReadOnlyHere /> : null}
      <SentBack view={view} region={region} />
      <Panel title="Selected">
        <div className="grid gap-2">
          <p>
            <strong>{plural(view.items, "dead letter")}</strong> of {scopeWords(view.scope)}. Drafted by{" "}
            {actorWords(view.requestedBy)}: {view.reason}
          </p>
          <Exclusions excluded={view.excluded} />
        </div>
      </Panel>
      <InspectStep {...step} />
      <AnnotateStep {...step} onUnsaved={onUnsaved} />
      <PlanStep {...step} onUnsaved={onUnsaved} />
      <StepPanel title="4. Stop conditions now" done={red === 0} missing={`${red} red`}>
        <div className="grid gap-2">
          <p className="max-w-prose text-muted text-table">
            A red one keeps the batch from being started, and pauses it once it is out.
          </p>
          <ConditionList conditions={view.conditions} />
        </div>
      </StepPanel>
      <SubmitStep {...step} unsaved={unsaved} />
      {cancelling ? <CancelDialog {...step} onClose={() => setCancelling(false)} /> : null}
    </div>
  );
}
