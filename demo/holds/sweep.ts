/**
 * The demo's business: releases card-authorisation holds that have expired, writes the ledger and enqueues the
 * webhooks, all in one transaction. It makes no request and waits for nobody: a hold that another sweep is busy with
 * is that sweep's. Running it again, late or in parallel changes nothing, so whoever triggers it may be unreliable.
 */
import type { PrismaClient } from "#db/prisma.ts";
import type { Region } from "#domain/region.ts";
import {
  type DeliveryInput,
  enqueueDeliveries,
  type Hinter,
  keyFromFacts,
  transactWithOutbox,
} from "#outbox/index.ts";
import { SELECT_EXPIRED } from "./sql.ts";

export interface SweepOptions {
  readonly region: Region;
  /** Told after a commit that wrote deliveries. */
  readonly hinter?: Pick<Hinter, "hint">;
  /** Most holds of one transaction, 1 to 500. Default 500. */
  readonly limit?: number;
  /** The n-th delivery of a sweep is due n times this after the first, in milliseconds. Default 40: 25 a second. */
  readonly stepMs?: number;
  /** Asked between two transactions; what is left waits for the next tick. */
  readonly signal?: AbortSignal;
}

export interface SweepResult {
  /** Holds that this sweep released. */
  readonly released: number;
  /** Ledger entries that it wrote; a key that the ledger had already is not written again. */
  readonly ledgerEntries: number;
  /** Deliveries that it wrote; a hold whose destination was deleted has none. */
  readonly deliveries: number;
  /** Transactions that it took. */
  readonly rounds: number;
}

interface ExpiredHold {
  id: string;
  tenant_id: string;
  destination_id: string;
  amount_minor: string;
  currency: string;
  card_last4: string;
  expires_at: string;
  wanted: boolean;
  now: Date;
}

const MAX_HOLDS_PER_TRANSACTION = 500;
/** A sweep ends after this many transactions even when more has expired: the next tick goes on. */
const MAX_ROUNDS = 20;
const DEFAULT_STEP_MS = 40;
const TRANSACTION_TIMEOUT_MS = 20_000;
const MAX_WAIT_MS = 5_000;
const NO_HINT = { hint: () => {} };
const EVENT = "hold.released";

/**
 * Releases what has expired by the database clock, in transactions of at most `limit` holds, until one finds fewer.
 * @throws what the database throws; then the last transaction has left nothing, and the ones before it stand
 */
export async function sweep(prisma: PrismaClient, options: SweepOptions): Promise<SweepResult> {
  const limit = Math.min(MAX_HOLDS_PER_TRANSACTION, Math.max(1, options.limit ?? MAX_HOLDS_PER_TRANSACTION));
  const total = { released: 0, ledgerEntries: 0, deliveries: 0, rounds: 0 };
  while (total.rounds < MAX_ROUNDS && options.signal?.aborted !== true) {
    const round = await releaseOnce(prisma, options, limit, total.released);
    total.rounds += 1;
    total.released += round.released;
    total.ledgerEntries += round.ledgerEntries;
    total.deliveries += round.deliveries;
    if (round.released < limit) break;
  }
  return total;
}

/** One transaction. `offset` is how many holds this sweep has released before: the spread goes on from there. */
function releaseOnce(prisma: PrismaClient, options: SweepOptions, limit: number, offset: number) {
  const stepMs = options.stepMs ?? DEFAULT_STEP_MS;
  return transactWithOutbox(
    prisma,
    options.hinter ?? NO_HINT,
    async (tx) => {
      const holds = await tx.$queryRawUnsafe<ExpiredHold[]>(SELECT_EXPIRED, options.region, limit);
      const releasedAt = holds[0]?.now;
      if (releasedAt === undefined) return { released: 0, ledgerEntries: 0, deliveries: 0 };
      const { count: released } = await tx.demoCardHold.updateMany({
        where: { id: { in: holds.map(({ id }) => id) }, state: "active" },
        data: { state: "released", releasedAt },
      });
      const { count: ledgerEntries } = await tx.demoLedgerEntry.createMany({
        data: holds.map((hold) => ledgerEntryOf(hold, options.region)),
        skipDuplicates: true,
      });
      const inputs = holds.flatMap((hold, index) =>
        hold.wanted ? [deliveryOf(hold, options.region, (offset + index) * stepMs)] : [],
      );
      const results = await enqueueDeliveries(tx, inputs);
      return {
        released,
        ledgerEntries,
        deliveries: results.filter(({ status }) => status === "created").length,
      };
    },
    { timeout: TRANSACTION_TIMEOUT_MS, maxWait: MAX_WAIT_MS },
  );
}

/** The same hold and expiry give the same key in every sweep; a hold whose expiry is moved is another fact. */
function keyOf(hold: ExpiredHold): string {
  return keyFromFacts({ event: EVENT, entityId: hold.id, version: hold.expires_at });
}

function ledgerEntryOf(hold: ExpiredHold, region: Region) {
  return {
    idempotencyKey: keyOf(hold),
    region,
    holdId: hold.id,
    kind: "hold_released",
    amountMinor: BigInt(hold.amount_minor),
    currency: hold.currency,
  };
}

function deliveryOf(hold: ExpiredHold, region: Region, delayMs: number): DeliveryInput {
  return {
    region,
    tenantId: hold.tenant_id,
    destinationId: hold.destination_id,
    eventType: EVENT,
    idempotencyKey: keyOf(hold),
    // Business facts only, no time of this run: a repeat of the sweep has the same bytes.
    body: JSON.stringify({
      type: EVENT,
      hold: {
        id: hold.id,
        amountMinor: Number(hold.amount_minor),
        currency: hold.currency,
        cardLast4: hold.card_last4,
        expiresAt: hold.expires_at,
      },
    }),
    delayMs,
  };
}
