/** The headers that the console tells of are those that the worker sends: the same names in the same order, the same values. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import { sentHeaders, traceIdOf } from "#domain/sent-headers.ts";
import { prepareSecret } from "#domain/signature.ts";
import type { SendPlan } from "#worker/destinations.ts";
import { requestHeaders } from "#worker/request.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00.900Z");
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const id = () => uuidV7(NOW_MS, (count) => randomBytes(count));

function claimed(changes: Partial<ClaimedDelivery>): ClaimedDelivery {
  return {
    id: id(),
    token: id(),
    tenantId: id(),
    destinationId: id(),
    destinationVersion: 1,
    eventType: "hold.released",
    idempotencyKey: "hold.released:1:2",
    traceparent: null,
    serviceClass: "routine",
    lane: "first",
    replayBatchId: null,
    dueMs: NOW_MS,
    attempts: 2,
    failures: 2,
    rejections: 0,
    throttles: 0,
    throttledMs: 0,
    lostLeases: 0,
    cycle: 1,
    consecutiveGates: 0,
    payloadBytes: 2,
    contentType: "application/json",
    body: Buffer.from("{}"),
    ...changes,
  } as ClaimedDelivery;
}

function planWith(plainSignatureHeader: string | null): SendPlan {
  const key = prepareSecret(`whsec_${randomBytes(32).toString("base64")}`);
  return {
    version: 1,
    target: null,
    badUrl: null,
    blockedAddress: null,
    secrets: [{ key, untilMs: null }],
    policies: null,
    configError: null,
    plainSignatureHeader,
  };
}

test.each([
  [{}, null],
  [{ traceparent: TRACEPARENT, replayBatchId: id() }, "x-plain-signature"],
  [{ replayBatchId: id(), replayHeader: true }, null],
] as const)("SIG-6 %j: told as sent, but for the signatures, which nobody keeps", (changes, plain) => {
  const delivery = claimed(changes);
  const flat = requestHeaders(delivery, Buffer.from("{}"), planWith(plain), "us", NOW_MS);
  const sent = Array.from({ length: flat.length / 2 }, (_, pair) => [flat[2 * pair], flat[2 * pair + 1]]);
  const told = sentHeaders({
    deliveryId: toPublicId("dlv", delivery.id),
    tenantId: toPublicId("ten", delivery.tenantId),
    region: "us",
    idempotencyKey: delivery.idempotencyKey,
    eventType: delivery.eventType,
    contentType: delivery.contentType,
    traceparent: delivery.traceparent,
    attempt: delivery.attempts + 1,
    startedMs: NOW_MS,
    replayId: delivery.replayBatchId === null ? null : toPublicId("rpl", delivery.replayBatchId),
    replayHeader: delivery.replayHeader ?? false,
    plainSignatureHeader: plain,
  });
  expect(told.map(({ name }) => name)).toEqual(sent.map(([name]) => name));
  const kept = told.filter(({ value }) => value !== null);
  expect(kept.map(({ name, value }) => [name, value])).toEqual(
    sent.filter(([name]) => kept.some((header) => header.name === name)),
  );
  const hidden = told.filter(({ value }) => value === null);
  expect(hidden.map(({ name }) => name)).toEqual([
    "user-agent",
    "webhook-signature",
    ...(plain === null ? [] : [plain]),
  ]);
  for (const { note } of hidden) expect(note).not.toBeNull();
});

test("the trace id is the middle of a traceparent, and of nothing else", () => {
  expect(traceIdOf(TRACEPARENT)).toBe("0af7651916cd43dd8448eb211c80319c");
  for (const text of [null, "", "00-xyz", `${TRACEPARENT}-more`]) expect(traceIdOf(text)).toBeNull();
});
