/**
 * One request exactly as every contender of the bench sends it: the same undici version and dispatcher, the same body,
 * headers and signature. What differs between contenders is only what stands around this call.
 */
import type { Agent } from "undici";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { prepareSecret } from "#domain/signature.ts";
import type { SendPlan } from "#worker/destinations.ts";
import { requestHeaders } from "#worker/request.ts";
import { BENCH_SECRET } from "../lib/sql.ts";

export interface SendContext {
  readonly client: Agent;
  readonly receiverUrl: string;
  readonly destinations: number;
  readonly body: Buffer;
}

/** A delivery as a job of another queue carries it: its id, the number of its destination, and its body. */
export interface BenchJob {
  readonly id: string;
  readonly n: number;
  readonly body: string;
}

const PLAN: SendPlan = {
  version: 1,
  target: null,
  badUrl: null,
  blockedAddress: null,
  secrets: [{ key: prepareSecret(BENCH_SECRET), untilMs: null }],
  policies: null,
  configError: null,
  plainSignatureHeader: null,
};

/** Path of the n-th destination at the receiver, from 1. */
export function destinationPath(n: number): string {
  return `/ok/d${n}`;
}

/** Sends one and resolves when its response has been read. @throws Error when it is not answered with 200 */
export function sendOne(context: SendContext, id: string, n: number, body: Buffer): Promise<void> {
  const headers = headersOf(id, body);
  return new Promise((resolve, reject) => {
    let status = 0;
    context.client.dispatch(
      { origin: context.receiverUrl, path: destinationPath(n), method: "POST", headers, body },
      {
        onRequestStart() {},
        onResponseData() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseEnd() {
          if (status === 200) resolve();
          else reject(new Error(`the receiver answered ${status}`));
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
  });
}

/** A job as another queue hands it over. */
export function sendJob(context: SendContext, job: BenchJob): Promise<void> {
  return sendOne(context, job.id, job.n, Buffer.from(job.body));
}

/** The same request through Node's own fetch. @throws Error when it is not answered with 200 */
export async function fetchJob(context: SendContext, job: BenchJob): Promise<void> {
  const body = Buffer.from(job.body);
  const flat = headersOf(job.id, body);
  const headers: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) headers.push([flat[at] ?? "", flat[at + 1] ?? ""]);
  const answer = await fetch(`${context.receiverUrl}${destinationPath(job.n)}`, {
    method: "POST",
    headers,
    body,
  });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`the receiver answered ${answer.status}`);
}

export function headersOf(id: string, body: Buffer): string[] {
  return requestHeaders(envelope(id, body), body, PLAN, "us", Date.now());
}

function envelope(id: string, body: Buffer): ClaimedDelivery {
  return {
    id,
    token: id,
    tenantId: id,
    destinationId: id,
    destinationVersion: 1,
    eventType: "bench.event",
    idempotencyKey: `bench-${id}`,
    traceparent: null,
    serviceClass: "routine",
    lane: "first",
    replayBatchId: null,
    dueMs: 0,
    attempts: 0,
    failures: 0,
    rejections: 0,
    throttles: 0,
    throttledMs: 0,
    lostLeases: 0,
    cycle: 1,
    consecutiveGates: 0,
    payloadBytes: body.length,
    contentType: "application/json",
    body,
  };
}
