"use client";
/**
 * What the form of a control holds: reason, ticket, whether it was tried, and the answer once it has come. Values of the
 * row are not in here; they are read again while what was typed stays.
 */
import { type FormEvent, useState } from "react";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import { useAnswerToast } from "./answer-toast.tsx";
import { refuseReason } from "./bounds.ts";
import { type ControlRequest, commandMethod, commandPath } from "./control-request.ts";
import type { ReasonDraft } from "./reason-fields.tsx";
import { pendingParts, type RegionPart, type RegionResult } from "./region-parts.ts";
import { type CommandPhase, useCommand } from "./use-command.ts";
import { useRegionCommands } from "./use-region-commands.ts";

export interface ControlForm<A> {
  draft: ReasonDraft;
  setDraft: (draft: ReasonDraft) => void;
  /** True once it was sent, whatever came of it. */
  tried: boolean;
  /** Set where the dialog goes on to show a result. */
  answer: A | null;
  phase: CommandPhase;
  /** Of a control that went to several regions: what came of it in each. */
  results: readonly RegionResult[];
  submit: (
    event: FormEvent<HTMLFormElement>,
    plan: {
      readonly body: object;
      readonly problem: string | null;
      readonly parts?: readonly RegionPart[];
    },
    seen: { readonly nowMs: number; readonly version: number | null },
  ) => void;
  /** The values were read again: the refusal is over. */
  clear: () => void;
}

export function useControlForm<A extends CommandAnswer>({
  request,
  onClose,
  result,
}: {
  request: ControlRequest;
  onClose: () => void;
  result?: (answer: A) => unknown;
}): ControlForm<A> {
  const [draft, setDraft] = useState<ReasonDraft>({ reason: "", ticket: "" });
  const [tried, setTried] = useState(false);
  const [answer, setAnswer] = useState<A | null>(null);
  const command = useCommand<A>();
  const regions = useRegionCommands();
  const tell = useAnswerToast();

  function sendParts(parts: readonly RegionPart[], fields: object, nowMs: number): void {
    const pending = pendingParts(parts, regions.results);
    if (pending.length === 0) {
      onClose();
      return;
    }
    regions.send(
      pending.map((part) => ({ ...part, body: { ...part.body, ...fields } })),
      (fresh, all) => {
        for (const result of fresh) if (result.at === "done") tell(result.request, result.answer, nowMs);
        // What failed keeps the dialog open, with everything that was typed.
        if (pendingParts(parts, all).length === 0) onClose();
      },
    );
  }

  return {
    draft,
    setDraft,
    tried,
    answer,
    phase: regions.busy ? { at: "requested" } : command.phase,
    results: regions.results,
    submit(event, { body, problem, parts = [] }, { nowMs, version }) {
      event.preventDefault();
      setTried(true);
      if (problem !== null || refuseReason(draft.reason) !== null) {
        focusFirstWrong(event.currentTarget);
        return;
      }
      const ticket = draft.ticket.trim();
      const why = { reason: draft.reason.trim(), ...(ticket === "" ? {} : { ticket }) };
      if (parts.length > 1 || regions.results.length > 0) {
        command.clear();
        sendParts(parts, why, nowMs);
        return;
      }
      const fields = { ...body, ...why };
      command.send(commandPath(request), attemptOf(request, fields, version), (given) => {
        tell(request, given, nowMs);
        if (result) setAnswer(given);
        else onClose();
      });
    },
    clear() {
      command.clear();
      regions.clear();
      setTried(false);
    },
  };
}

function attemptOf(request: ControlRequest, body: object, version: number | null) {
  return { method: commandMethod(request), body, ...(version === null ? {} : { version }) };
}

/** Once the problems are drawn, the first wrong field gets the focus. */
export function focusFirstWrong(form: HTMLElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}
