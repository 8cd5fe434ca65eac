/**
 * Tells the database what was seen of destinations and does what it answers: a destination that failed for a day is
 * disabled, and so is one that said 410, at once and audited. It must never decide by itself, and never fail a delivery.
 */
import { MAX_HEALTH_ROWS } from "#db/queue/note-health.ts";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { healthSign } from "#domain/breaker.ts";
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import type { RetryPolicy } from "#domain/policy.ts";
import type { Decision } from "#domain/retry-policy.ts";
import type { WorkerParts } from "./parts.ts";
import type { Attempt } from "./send-webhook.ts";

/** Reports of one pass; what is left comes with the next. */
const MAX_REPORT_PASSES = 10;
const GONE = "the receiver answered 410 Gone";
const FAILED_FOR_A_DAY = "no success for 24 hours and at least 20 failures";

/** Notes what an attempt says of its destination. */
export function observe(
  delivery: ClaimedDelivery,
  attempt: Attempt,
  decision: Decision,
  policy: RetryPolicy,
  parts: Pick<WorkerParts, "health">,
): void {
  const { outcome } = attempt;
  parts.health.note({
    destinationId: delivery.destinationId,
    sign: healthSign(outcome, policy),
    startedMs: attempt.startedMs,
    endedMs: attempt.startedMs + attempt.durationMs,
    timedOut: outcome.kind === "timeout",
    gated: decision.gate !== null,
    why:
      outcome.kind === "response"
        ? String(outcome.status)
        : outcome.kind === "network"
          ? outcome.code
          : outcome.kind,
  });
}

/** Sends what has been collected. Rejects when the database does not answer; nothing is lost then. */
export async function reportHealth(parts: WorkerParts): Promise<void> {
  const { store, health, clock, log } = parts;
  for (let pass = 0; pass < MAX_REPORT_PASSES; pass++) {
    const reports = health.take(clock.nowMs(), MAX_HEALTH_ROWS);
    if (reports.length === 0) return;
    const answers = await store.noteHealth(reports, parts.random()).catch((error: unknown) => {
      health.putBack(reports);
      throw error;
    });
    for (const answer of answers) {
      health.answered(answer, clock.nowMs());
      const { destinationId, breaker, breakerUntilMs } = answer;
      if (answer.breakerChanged) {
        log.info(
          { event: "breaker", destination: destinationId, breaker, untilMs: breakerUntilMs },
          "a breaker moved",
        );
        // What was blocked may be asked for again, or must not be.
        parts.book.askAgain([destinationId]);
        parts.wake.raise(false);
      }
      if (answer.toDisable) await disable(destinationId, FAILED_FOR_A_DAY, null, parts);
    }
    if (reports.length < MAX_HEALTH_ROWS) return;
  }
}

/**
 * Behind an open breaker single requests ask: what this one found out is stored while its lease still holds the place, or the
 * next would ask, and spend an attempt, before anybody knows.
 */
export async function reportIfOpen(destinationId: string, parts: WorkerParts): Promise<void> {
  if (!parts.health.isOpen(destinationId)) return;
  // Nothing is lost: it is reported with the next pass.
  await reportHealth(parts).catch(() => undefined);
}

/** 410: no more is sent there, and what waits is held. In its own statement, like a gate, so that siblings stop at once. */
export async function disableGone(
  delivery: ClaimedDelivery,
  decision: Decision,
  parts: WorkerParts,
): Promise<void> {
  if (decision.to !== "dead" || !decision.disableDestination) return;
  try {
    await disable(delivery.destinationId, GONE, delivery.id, parts);
  } catch (error) {
    // The delivery still ends as gone; the next 410 disables.
    parts.log.warn(
      { event: "destination_not_disabled", delivery: delivery.id, error: String(error) },
      "a destination could not be disabled",
    );
  }
}

/** @param deliveryId the delivery whose answer says so; null: the row of failures does */
async function disable(
  destinationId: string,
  reason: string,
  deliveryId: string | null,
  parts: WorkerParts,
): Promise<void> {
  const { store, clock, randomBytes, workerId, log } = parts;
  const done = await store.disableDestination({
    destinationId,
    reason,
    automatic: deliveryId === null,
    actor: "worker",
    auditId: uuidV7(Math.floor(clock.nowMs()), randomBytes),
    correlationId: deliveryId === null ? `worker:${workerId}` : toPublicId("dlv", deliveryId),
  });
  if (done)
    log.info(
      { event: "destination_disabled", destination: destinationId, reason },
      "a destination was disabled",
    );
}
