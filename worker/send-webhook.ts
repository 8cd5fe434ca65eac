/**
 * One call is one attempt: it returns what happened as a value and decides nothing. What cannot be sent is said
 * without a request. It must never send when the body is gone, and never outlive the deadline of the policy.
 */
import type { Dispatcher } from "undici";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import type { Outcome } from "#domain/outcome.ts";
import type { RetryPolicy } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import type { DatabaseClock } from "./clock.ts";
import type { CutOff } from "./cut-off.ts";
import type { SendPlan } from "./destinations.ts";
import { type ExchangeResult, exchange } from "./exchange.ts";
import { requestHeaders, whatCannotBeSent } from "./request.ts";
import type { Timers } from "./timers.ts";

export interface Attempt {
  readonly outcome: Outcome;
  /** Database time of the start. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** Response evidence, already bounded. */
  readonly contentType: string | null;
}

export interface SendContext {
  readonly client: Pick<Dispatcher, "dispatch">;
  readonly timers?: Timers;
  readonly clock: DatabaseClock;
  readonly region: Region;
  /** Cuts requests off when a stop has waited long enough. */
  readonly stop: CutOff;
}

/** Sends one delivery once. Never rejects. */
export async function sendWebhook(
  delivery: ClaimedDelivery,
  plan: SendPlan,
  policy: RetryPolicy,
  context: SendContext,
): Promise<Attempt> {
  const startedMs = context.clock.nowMs();
  const begunAt = context.clock.monotonicMs();
  const refused = whatForbids(delivery, plan);
  if (refused !== null) return { outcome: refused, startedMs, durationMs: 0, contentType: null };
  const ready = plan as SendPlan & { target: NonNullable<SendPlan["target"]> };
  const body = delivery.body as Buffer;
  const result = await exchange(
    context.client,
    {
      origin: ready.target.origin,
      path: ready.target.path,
      headers: requestHeaders(delivery, body, ready, context.region, startedMs),
      body,
      deadlineMs: policy.requestDeadlineMs,
    },
    context.stop,
    context.timers,
  );
  const durationMs = Math.max(0, Math.round(context.clock.monotonicMs() - begunAt));
  return {
    outcome: toOutcome(result, durationMs),
    startedMs,
    durationMs,
    contentType: result.kind === "response" ? contentTypeOf(result) : null,
  };
}

/** As it came, with a word about the body's encoding where that needs one. */
function contentTypeOf({
  contentType,
  bodyNote,
}: Extract<ExchangeResult, { kind: "response" }>): string | null {
  return bodyNote === null ? contentType : `${contentType ?? "no content type"} (${bodyNote})`;
}

function whatForbids(delivery: ClaimedDelivery, plan: SendPlan): Outcome | null {
  if (delivery.body === null) return { kind: "payload_erased" };
  if (plan.configError !== null) return { kind: "config_error", detail: plan.configError };
  if (plan.blockedAddress !== null) return { kind: "blocked", address: plan.blockedAddress };
  if (plan.badUrl !== null) return { kind: "bad_destination", detail: plan.badUrl };
  const unsendable = whatCannotBeSent(delivery);
  return unsendable === null ? null : { kind: "config_error", detail: unsendable };
}

function toOutcome(result: ExchangeResult, durationMs: number): Outcome {
  switch (result.kind) {
    case "response":
      return {
        kind: "response",
        status: result.status,
        retryAfterHeader: result.retryAfter,
        durationMs,
        bodyExcerpt: result.body,
        bodyBytes: result.bodyBytes,
        bodyTruncated: result.truncated,
      };
    case "network":
      return {
        kind: "network",
        code: result.code,
        phase: result.phase,
        durationMs,
        keptConnection: result.keptConnection,
      };
    case "timeout":
      return { kind: "timeout", phase: result.phase, durationMs };
    case "shutdown":
      return { kind: "shutdown", durationMs };
    case "blocked":
      return { kind: "blocked", address: result.address };
    case "unsendable":
      return { kind: "config_error", detail: result.detail };
  }
}
