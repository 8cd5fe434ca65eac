/** Answers of commands that say more than that something was changed. Types only. */
import type { CommandAnswer } from "#db/console/commands/run-command.ts";

export interface RotateAnswer extends CommandAnswer {
  /** Null in an answer that is repeated for the same Idempotency-Key: it is never stored. */
  readonly secret?: string | null;
  /** UTC; null: only the new secret signs. */
  readonly previousUntil?: string | null;
}
