"use client";
/**
 * Sends a step of a draft with the version that was shown. The reason of the batch is the reason of its steps: nothing is
 * asked twice. It never repeats by itself.
 */
import { useState } from "react";
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
}

/** What a step needs of the page. */
export interface StepProps {
  region: Region;
  view: ReplayDetail;
  /** Version after the newest change of one's own, which the page may not have read yet. */
  version: number;
  onChanged: (version: number) => void;
  /** Too narrow to write on: everything can be read. */
  readOnly: boolean;
}

export function useStep({ region, view, version, onChanged }: StepProps): Step {
  const { phase, send, clear } = useCommand<CommandAnswer>();
  return {
    phase,
    send(verb, fields, onDone) {
      const body = { reason: view.reason, ...fields };
      send(replayApiPath(region, view.id, verb), { body, version }, (answer) => {
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
