/**
 * The desk's three passes: urgent follow-ups, enrichment, and the bulk batch for a search index. Each takes what is due,
 * marks it as taken and writes its deliveries in one transaction. A pass sends nothing and waits for nobody, and doing it
 * again, late or in parallel changes nothing: what was taken is no longer there to be taken.
 */
import type { PrismaClient } from "#db/prisma.ts";
import type { Region } from "#domain/region.ts";
import { enqueueDeliveries, type Hinter, type OutboxTransaction, transactWithOutbox } from "#outbox/index.ts";
import { enrichmentWanted, followUpDue, indexWanted, type TicketMessage } from "./messages.ts";
import { ADVANCE_BATCH, LOCK_BATCH, READ_BATCH_TICKETS, TAKE_CHANGED, TAKE_FOLLOW_UPS } from "./sql.ts";

export interface PassOptions {
  readonly region: Region;
  /** Told after a commit that wrote deliveries. */
  readonly hinter?: Pick<Hinter, "hint">;
  /** Most tickets of one transaction, 1 to 500. Default 500. */
  readonly limit?: number;
  /** The n-th delivery of a batch is due n times this after its start, in milliseconds. Default 100: 10 a second. */
  readonly stepMs?: number;
  /** Asked between two transactions; what is left waits for the next tick. */
  readonly signal?: AbortSignal;
}

/** What one tick wrote. A ticket whose destination was deleted is settled without a delivery. */
export interface TickResult {
  readonly followUps: number;
  readonly enrichments: number;
  readonly indexed: number;
}

interface TakenTicket {
  id: string;
  tenant_id: string;
  destination_id: string;
  subject: string;
  version: number;
  wanted: boolean;
}
type DueFollowUp = TakenTicket & { follow_up_text: string };

interface LockedBatch {
  id: string;
  tenant_id: string;
  destination_id: string;
  generation: number;
  last_ticket_id: string | null;
  written: number;
  wanted: boolean;
  start_ms: number;
  elapsed_ms: number;
}

/** What one transaction of a pass did. */
interface Round {
  readonly written: number;
  /** Whether as much as the limit was there: then there may be more. */
  readonly full: boolean;
}

const MAX_TICKETS_PER_TRANSACTION = 500;
/** A pass ends after this many transactions even when more is due: the next tick goes on. */
const MAX_ROUNDS = 8;
const DEFAULT_STEP_MS = 100;
const TRANSACTION = { timeout: 20_000, maxWait: 5_000 };
const NO_HINT = { hint: () => {} };

/**
 * One tick of a region: what is urgent first.
 * @param prisma a client of that region's database
 * @throws what the database throws; then the last transaction has left nothing, and the ones before it stand
 */
export async function runTick(prisma: PrismaClient, options: PassOptions): Promise<TickResult> {
  return {
    followUps: await runPass(prisma, options, writeFollowUps),
    enrichments: await runPass(prisma, options, writeEnrichments),
    indexed: await runPass(prisma, options, writeBatch),
  };
}

type Work = (tx: OutboxTransaction & RawExecutor, options: PassOptions, limit: number) => Promise<Round>;

/** The part of a Prisma transaction client that runs a statement without rows. */
interface RawExecutor {
  $executeRawUnsafe(query: string, ...values: unknown[]): PromiseLike<number>;
}

async function runPass(prisma: PrismaClient, options: PassOptions, work: Work): Promise<number> {
  const limit = Math.min(
    MAX_TICKETS_PER_TRANSACTION,
    Math.max(1, options.limit ?? MAX_TICKETS_PER_TRANSACTION),
  );
  let written = 0;
  for (let round = 0; round < MAX_ROUNDS && options.signal?.aborted !== true; round += 1) {
    const done = await transactWithOutbox(
      prisma,
      options.hinter ?? NO_HINT,
      (tx) => work(tx, options, limit),
      TRANSACTION,
    );
    written += done.written;
    if (!done.full) break;
  }
  return written;
}

const writeFollowUps: Work = async (tx, { region }, limit) => {
  const due = await tx.$queryRawUnsafe<DueFollowUp[]>(TAKE_FOLLOW_UPS, region, limit);
  const messages = due.flatMap((ticket) =>
    ticket.wanted ? [followUpDue(addresseeOf(region, ticket), ticket, ticket.follow_up_text)] : [],
  );
  return { written: await write(tx, messages), full: due.length === limit };
};

const writeEnrichments: Work = async (tx, { region }, limit) => {
  const changed = await tx.$queryRawUnsafe<TakenTicket[]>(TAKE_CHANGED, region, limit);
  const messages = changed.flatMap((ticket) =>
    ticket.wanted ? [enrichmentWanted(addresseeOf(region, ticket), ticket)] : [],
  );
  return { written: await write(tx, messages), full: changed.length === limit };
};

/**
 * The next part of the oldest unfinished batch. Its rows are spread from the batch's start; those whose turn has passed
 * when a tick is late are due at once.
 */
const writeBatch: Work = async (tx, { region, stepMs = DEFAULT_STEP_MS }, limit) => {
  const [batch] = await tx.$queryRawUnsafe<LockedBatch[]>(LOCK_BATCH, region);
  if (batch === undefined) return { written: 0, full: false };
  const tickets = batch.wanted
    ? await tx.$queryRawUnsafe<Pick<TakenTicket, "id" | "subject" | "version">[]>(
        READ_BATCH_TICKETS,
        batch.tenant_id,
        batch.last_ticket_id,
        limit,
      )
    : [];
  const to = addresseeOf(region, batch);
  const messages = tickets.map((ticket, index) => {
    const turnMs = (batch.written + index) * stepMs;
    const due = turnMs > batch.elapsed_ms ? { dueAt: new Date(batch.start_ms + turnMs) } : {};
    return indexWanted(to, ticket, batch.generation, due);
  });
  const written = await write(tx, messages);
  const isOver = tickets.length < limit;
  const last = tickets.at(-1)?.id ?? null;
  await tx.$executeRawUnsafe(ADVANCE_BATCH, batch.id, last, tickets.length, isOver, batch.start_ms);
  return { written, full: !isOver };
};

/** @returns how many deliveries are new */
async function write(tx: OutboxTransaction, messages: readonly TicketMessage[]): Promise<number> {
  const results = await enqueueDeliveries(tx, messages);
  return results.filter(({ status }) => status === "created").length;
}

function addresseeOf(region: Region, row: { tenant_id: string; destination_id: string }) {
  return { region, tenantId: row.tenant_id, destinationId: row.destination_id };
}
