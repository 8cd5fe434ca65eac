"use client";
/**
 * Sends the command of one dialog and says how far it has come: requested, then the answer. It never claims anything
 * before the answer, never sends twice for one press, and repeats the same values under the same Idempotency-Key, so that
 * a repeat after a lost answer cannot do it twice.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type CommandRequest, sendCommand } from "#components/queries/send-command.ts";
import { createRepeatKeys, isDefinite } from "./repeat-keys.ts";

export type CommandPhase = { at: "idle" } | { at: "requested" } | { at: "refused"; error: Error };

type Attempt = Omit<CommandRequest, "idempotencyKey">;

export interface Command<Answer> {
  phase: CommandPhase;
  send: (path: string, attempt: Attempt, onAnswer: (answer: Answer) => void) => void;
  /** Forgets a refusal: the values were read again. */
  clear: () => void;
}

/** @param newKey makes an Idempotency-Key that no other request has */
export function useCommand<Answer>(newKey: () => string = randomKey): Command<Answer> {
  const client = useQueryClient();
  const [phase, setPhase] = useState<CommandPhase>({ at: "idle" });
  const busy = useRef(false);
  const [keys] = useState(() => createRepeatKeys(newKey));

  async function run(path: string, attempt: Attempt, onAnswer: (answer: Answer) => void): Promise<void> {
    const idempotencyKey = keys.keyFor(JSON.stringify([path, attempt]));
    try {
      const answer = await sendCommand<Answer>(path, { ...attempt, idempotencyKey });
      setPhase({ at: "idle" });
      keys.settle();
      onAnswer(answer);
    } catch (error) {
      // A definite refusal has changed nothing: the next press asks anew. Anything else may have happened.
      if (isDefinite(error)) keys.settle();
      setPhase({ at: "refused", error: error as Error });
    } finally {
      busy.current = false;
      // What the page shows of the row is read again, whatever came of it.
      client.invalidateQueries({ queryKey: ["live"] }).catch(() => undefined);
    }
  }

  return {
    phase,
    send(path, attempt, onAnswer) {
      if (busy.current) return;
      busy.current = true;
      setPhase({ at: "requested" });
      void run(path, attempt, onAnswer);
    },
    clear: () => setPhase({ at: "idle" }),
  };
}

/** 128 bits from the browser; `crypto.randomUUID` is missing on plain http other than loopback. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
