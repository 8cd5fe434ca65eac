/**
 * One claimed delivery from lease to stored outcome: send, decide, shut the gate, record, give the slot back. It must
 * never send when the lease could end before the request does, and never give the slot back before the commit.
 */
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import type { ShutGate } from "#db/queue/shut-gate.ts";
import { uuidV7 } from "#domain/ids.ts";
import { DEFAULT_POLICY, type RetryPolicy } from "#domain/policy.ts";
import { withinBudget } from "#domain/replay-budget.ts";
import { type Decision, decide } from "#domain/retry-policy.ts";
import type { SendPlan } from "./destinations.ts";
import type { FinishBatcher, FinishResult } from "./finish-batcher.ts";
import { toFinishRow } from "./finish-row.ts";
import { attemptLine } from "./log-lines.ts";
import type { WorkerParts } from "./parts.ts";
import { disableGone, observe, reportIfOpen } from "./report-health.ts";
import { type Attempt, sendWebhook } from "./send-webhook.ts";

/** Part of every lease that is left to the time between its claim and the start of the request. */
export const START_MS = 1_000;

/**
 * False when there is not enough of the lease left: the caller releases the row, nothing was sent.
 * @param leaseEndsAt monotonic time: counted from before the claim, so a reply that took its time takes from the lease
 */
export function leaseAllows(
  delivery: ClaimedDelivery,
  plan: SendPlan,
  leaseEndsAt: number,
  parts: WorkerParts,
): boolean {
  const needMs = policyOf(delivery, plan, parts).requestDeadlineMs + parts.leaseMarginMs;
  return leaseEndsAt - parts.clock.monotonicMs() >= needMs;
}

/** Never rejects. The slot is given back when the outcome is stored, or known to be too late. */
export async function deliver(
  delivery: ClaimedDelivery,
  plan: SendPlan,
  parts: WorkerParts,
  batcher: FinishBatcher,
): Promise<void> {
  const policy = policyOf(delivery, plan, parts);
  try {
    const attempt = await sendWebhook(delivery, plan, policy, {
      client: parts.http,
      clock: parts.clock,
      timers: parts.timers,
      region: parts.region,
      stop: parts.cutOff,
    });
    const context = { nowMs: parts.clock.nowMs(), random: parts.random };
    const decided = decide(delivery, attempt.outcome, policy, context);
    const decision = withinBudget(decided, delivery, delivery.replayAttempts ?? null);
    observe(delivery, attempt, decision, policy, parts);
    await reportIfOpen(delivery.destinationId, parts);
    await shutGateOf(delivery, attempt, decision, parts);
    await disableGone(delivery, decision, parts);
    const result = await record(delivery, attempt, decision, policy, parts, batcher);
    if (result.kind === "recorded" && decision.to === "delayed") {
      const { dueTimer, switches, wake } = parts;
      const stands = switches.timers && switches.probe && dueTimer.standsBefore(result.dueMs);
      if (switches.timers) dueTimer.at(result.dueMs);
      // The dispatcher rests again and moves the region's wake-up job to the new due time, unless a moment stands before that: behind
      // that one it rests anyway. With hundreds of 429 a second each would else cost a turn.
      if (!stands) wake.raise(false);
    }
  } catch (error) {
    // A fault of ours: the row keeps its lease and comes back through the reconciler, counted as a lost lease.
    parts.log.error(
      { event: "deliver_failed", delivery: delivery.id, error: String(error) },
      "a delivery step failed",
    );
  } finally {
    parts.inFlight.giveBack(delivery.id);
  }
}

function policyOf(delivery: ClaimedDelivery, plan: SendPlan, parts: WorkerParts): RetryPolicy {
  const policy = plan.policies?.[delivery.serviceClass] ?? DEFAULT_POLICY[delivery.serviceClass];
  // The claim's lease is one for all; a destination's own deadline cannot reach beyond it.
  const longestMs = parts.leaseMs - parts.leaseMarginMs - START_MS;
  return policy.requestDeadlineMs <= longestMs ? policy : { ...policy, requestDeadlineMs: longestMs };
}

async function shutGateOf(
  delivery: ClaimedDelivery,
  attempt: Attempt,
  decision: Decision,
  parts: WorkerParts,
): Promise<void> {
  if (decision.gate === null) return;
  try {
    const shut: ShutGate = {
      destinationId: delivery.destinationId,
      deliveryId: delivery.id,
      delayMs: decision.gate.delayMs,
      startedMs: attempt.startedMs,
      why: decision.gate.why,
      status: attempt.outcome.kind === "response" ? attempt.outcome.status : null,
      retryAfter: decision.retryAfter?.raw ?? null,
    };
    const gate = await parts.gates.run(() => parts.store.shutGate(shut));
    parts.book.block(delivery.destinationId, gate.holdUntilMs, parts.clock.nowMs());
  } catch (error) {
    // The delivery's own due time still moves; siblings may spend an attempt each until the next 429.
    parts.log.warn(
      { event: "gate_not_shut", delivery: delivery.id, error: String(error) },
      "a gate could not be shut",
    );
  }
}

/** The destination's cap is what its next row waits for: the slot comes free with this outcome's commit, not before. */
function isSlotWaitedFor(
  { destinationId }: ClaimedDelivery,
  { book, inFlight, limits }: WorkerParts,
): boolean {
  const cap = limits.destination(destinationId).concurrency;
  return book.waitsForSlot(destinationId, inFlight.ofDestination(destinationId) >= cap);
}

async function record(
  delivery: ClaimedDelivery,
  attempt: Attempt,
  decision: Decision,
  policy: RetryPolicy,
  parts: WorkerParts,
  batcher: FinishBatcher,
): Promise<FinishResult> {
  const attemptId = uuidV7(Math.floor(attempt.startedMs), parts.randomBytes);
  const row = toFinishRow(delivery, attempt, decision, policy, { attemptId, workerId: parts.workerId });
  const stale = {
    tenantId: delivery.tenantId,
    destinationId: delivery.destinationId,
    serviceClass: delivery.serviceClass,
    lane: delivery.lane,
    cycle: delivery.cycle,
    number: delivery.attempts + 1,
    dueMs: delivery.dueMs,
  };
  const result = await batcher.record(row, stale, isSlotWaitedFor(delivery, parts));
  if (parts.log.isLevelEnabled("info")) parts.log.info(attemptLine(delivery, row, result));
  return result;
}
