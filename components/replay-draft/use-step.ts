"use client";
/**
 * Sends a step of a draft with the version that was shown. The reason of the batch is the reason of its steps: nothing is
 * asked twice. It never repeats by itself.
 */
import { useEffect, useState } from "react";
import { type CommandPhase, useCommand } from "#components/controls/use-command.ts";
import { replayApiPath } from "#components/queries/replays.ts";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayVerb } from "#domain/replay-actions.ts";

export interface Step {
  phase: CommandPhase;
  send: (verb: ReplayVerb, fields: object, onDone?: () => void) => void;
  clear: () => void;
  /** The last step that was sent was taken. */
  saved: boolean;
}

/** Steps whose form can hold what is not stored yet. */
export type UnsavedStep = "annotation" | "plan";

/** What a step needs of the page. */
export interface StepProps {
  region: Region;
  view: ReplayDetail;
  /** Version after the newest change of one's own, which the page may not have read yet. */
  version: number;
  onChanged: (version: number) => void;
  /** Too narrow to write on: everything can be read. */
  readOnly: boolean;
  /** The server's time of the reading. */
  asOf: string;
}

/** What a form needs besides: nothing may be frozen that was typed and is not stored. */
export interface FormStepProps extends StepProps {
  onUnsaved: (step: UnsavedStep, unsaved: boolean) => void;
}

export function useStep({ region, view, version, onChanged }: StepProps): Step {
  const { phase, send, clear } = useCommand<CommandAnswer>();
  const [saved, setSaved] = useState(false);
  return {
    phase,
    saved,
    send(verb, fields, onDone) {
      setSaved(false);
      const body = { reason: view.reason, ...fields };
      send(replayApiPath(region, view.id, verb), { body, version }, (answer) => {
        setSaved(true);
        onChanged(answer.version ?? version);
        onDone?.();
      });
    },
    clear,
  };
}

/** Own changes are known before the page has been read again. */
export function useVersion(view: ReplayDetail): [number, (version: number) => void] {
  const [own, setOwn] = useState(0);
  return [Math.max(own, view.version), setOwn];
}

/** Tells the page whether a form holds what is not stored. */
export function useUnsaved({ onUnsaved }: FormStepProps, step: UnsavedStep, unsaved: boolean): void {
  useEffect(() => onUnsaved(step, unsaved), [onUnsaved, step, unsaved]);
}
