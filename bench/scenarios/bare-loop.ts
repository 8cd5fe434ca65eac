/**
 * What the drain is held against: the same undici version and dispatcher, the same body, headers and signature, the
 * same receiver, and nothing else. No database, no decision; at its own best concurrency.
 */
import { randomBytes } from "node:crypto";
import type { Agent } from "undici";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { uuidV7 } from "#domain/ids.ts";
import { prepareSecret } from "#domain/signature.ts";
import { requestHeaders } from "#worker/request.ts";
import { BENCH_SECRET } from "../lib/sql.ts";

export interface BareLoopSettings {
  readonly client: Agent;
  readonly receiverUrl: string;
  readonly requests: number;
  readonly destinations: number;
  readonly body: Buffer;
  readonly concurrency: number;
}

/** Sends the requests and returns how many a second went through. @throws when one is not answered with 200 */
export async function bareLoop(settings: BareLoopSettings): Promise<number> {
  const plan = {
    version: 1,
    target: null,
    badUrl: null,
    secrets: [{ key: prepareSecret(BENCH_SECRET), untilMs: null }],
    policies: null,
    configError: null,
    plainSignatureHeader: null,
  };
  const nowMs = Date.now();
  const deliveries = Array.from({ length: settings.requests }, () =>
    envelope(uuidV7(nowMs, randomBytes), settings.body),
  );
  let next = 0;
  const begunAt = performance.now();
  const worker = async () => {
    for (;;) {
      const index = next++;
      const delivery = deliveries[index];
      if (delivery === undefined) return;
      await post(
        settings,
        `/ok/d${(index % settings.destinations) + 1}`,
        requestHeaders(delivery, settings.body, plan, "us", Date.now()),
      );
    }
  };
  await Promise.all(Array.from({ length: settings.concurrency }, worker));
  return (settings.requests / (performance.now() - begunAt)) * 1_000;
}

function post(settings: BareLoopSettings, path: string, headers: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    settings.client.dispatch(
      { origin: settings.receiverUrl, path, method: "POST", headers, body: settings.body },
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
