/**
 * What the demo's customers are told: builds the deliveries of invented business. Random numbers are passed in; nothing
 * here touches a database.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Region } from "#domain/region.ts";
import { type DeliveryInput, keyFromFacts } from "#outbox/index.ts";

/** One endpoint that business is made for. */
export interface Target {
  readonly region: Region;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly currency: string;
  /** Deliveries per second at the default rate. */
  readonly perSecond: number;
  readonly bursts: boolean;
}

/** A hold as the demo's own table stores it. */
export interface NewHold {
  readonly id: string;
  readonly region: Region;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly cardLast4: string;
  readonly expiresAt: Date;
}

const MIN_HOLD_MS = 8_000;
const MAX_HOLD_MS = 60_000;
const MIN_AMOUNT_MINOR = 250;
const MAX_AMOUNT_MINOR = 48_000;
const ITEMS = [
  "Monthly plan",
  "Card fee",
  "Fuel",
  "Room night",
  "Ticket",
  "Delivery",
  "Rental day",
  "Refund",
] as const;
const MAX_LINES = 6;

/** A hold that expires within a minute. @param random 0 to 1 */
export function newHold(target: Target, nowMs: number, random: () => number): NewHold {
  return {
    id: randomUUID(),
    region: target.region,
    tenantId: target.tenantId,
    destinationId: target.destinationId,
    amountMinor: BigInt(between(MIN_AMOUNT_MINOR, MAX_AMOUNT_MINOR, random)),
    currency: target.currency,
    cardLast4: String(between(0, 9_999, random)).padStart(4, "0"),
    expiresAt: new Date(nowMs + between(MIN_HOLD_MS, MAX_HOLD_MS, random)),
  };
}

/** The urgent word that a hold's money was taken. A hold is captured once, so its id alone makes the fact. */
export function paymentCaptured(
  hold: NewHold,
): DeliveryInput & { destinationId: string; destinationIds?: undefined } {
  return {
    ...addressOf(hold),
    eventType: "payment.captured",
    serviceClass: "urgent",
    idempotencyKey: keyFromFacts({ event: "payment.captured", entityId: hold.id, version: "1" }),
    body: JSON.stringify({
      type: "payment.captured",
      payment: {
        holdId: hold.id,
        amountMinor: Number(hold.amountMinor),
        currency: hold.currency,
        cardLast4: hold.cardLast4,
      },
    }),
    traceparent: newTraceparent(),
  };
}

/** Routine news of an invoice with some lines. @param random 0 to 1 */
export function invoiceUpdated(
  target: Target,
  random: () => number,
): DeliveryInput & { destinationId: string; destinationIds?: undefined } {
  const id = randomUUID();
  const lines = Array.from({ length: between(1, MAX_LINES, random) }, () => ({
    text: ITEMS[between(0, ITEMS.length - 1, random)],
    amountMinor: between(MIN_AMOUNT_MINOR, MAX_AMOUNT_MINOR, random),
  }));
  return {
    ...addressOf(target),
    eventType: "invoice.updated",
    idempotencyKey: keyFromFacts({ event: "invoice.updated", entityId: id, version: "1" }),
    body: JSON.stringify({
      type: "invoice.updated",
      invoice: { id, version: 1, currency: target.currency, lines },
    }),
    traceparent: newTraceparent(),
  };
}

function addressOf({
  region,
  tenantId,
  destinationId,
}: Pick<Target, "region" | "tenantId" | "destinationId">) {
  return { region, tenantId, destinationId };
}

function newTraceparent(): string {
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}

/** A whole number from `low` to `high`, both included. */
function between(low: number, high: number, random: () => number): number {
  return low + Math.floor(random() * (high - low + 1));
}
