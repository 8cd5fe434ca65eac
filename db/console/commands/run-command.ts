/**
 * The one way in which a control happens: a short transaction with the change and its audit row, then the barrier, then
 * a hint, then the answer. It must never take the claim lock inside the transaction (a slow commit would stop the
 * region), and it must never answer "applied" before the barrier.
 */
import type { Pool, PoolClient } from "pg";
import {
  ACTOR_MAX_CHARS,
  type ActorRole,
  CORRELATION_MAX_CHARS,
  type ErasePayload,
} from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { sendControlHint } from "../../queue/wake-job.ts";
import { type TransactionBounds, transact } from "../../transact.ts";
import { type IdempotencyKey, type StoredAnswer, storeAnswer, takeKey } from "./idempotency.ts";

/** Longest wait for a row that another change holds. */
const LOCK_TIMEOUT_MS = 2_000;
/** A caller that is stopped in the middle of its transaction holds its rows, and a worker's finish behind them, for `idleMs`. */
const BOUNDS: TransactionBounds = { lockMs: LOCK_TIMEOUT_MS, statementMs: 5_000, idleMs: 2_000 };
const LOCK_NOT_AVAILABLE = "55P03";

/** Who asks, and where. The pool is that region's own. */
export interface CommandContext {
  readonly region: Region;
  readonly pool: Pool;
  /** `cli:ann`, `user:...`. */
  readonly actor: string;
  readonly role: ActorRole;
  /** Ties what one person did in one go together. */
  readonly correlationId: string;
  /** A fresh UUIDv7 for the audit row. */
  readonly newId: () => string;
  /** The row's tenant, where the edge has looked it up: who may read the tenant may read a refusal in the audit. */
  readonly tenantId?: string | null;
  /** Absent: a repeat is a new request. */
  readonly idempotency?: IdempotencyKey;
  /** How far limits may be raised. Absent: any value that the columns take; then nothing else may be in doubt. */
  readonly limitRules?: LimitRules;
}

/** What is checked of a raise, in the transaction (domain/limit-steps.ts). */
export interface LimitRules {
  /** What the caller's role may do; absent: any value. */
  readonly only?: "lower" | "within_policy" | "own_approved";
  /** False: out of step, as the command line may be told to. The audit says so. */
  readonly steps: boolean;
}

/** Columns of a row as they go into the audit: small, and never a secret. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export interface CommandAnswer {
  /** `aud_...`: the row that says who, why, before and after. */
  readonly auditId: string;
  /** The row's version now; null for a row that has none. */
  readonly version: number | null;
  readonly before: Facts;
  readonly after: Facts;
  /** The database's time of the change, UTC. */
  readonly at: string;
  /**
   * True: the barrier was passed after the commit, so no claim that predates the change can still commit. False: the
   * change is stored and counts for every claim that begins now, but that proof could not be had in time.
   */
  readonly applied: boolean;
  /** True: this request was done before, and this is its answer. Nothing was changed now. */
  readonly replayed?: true;
}

/** What an audit row says beside the change itself. */
export interface CommandSubject {
  /** `tenant.pause`: what the audit is searched by. */
  readonly action: string;
  readonly targetKind:
    | "tenant"
    | "destination"
    | "region"
    | "payload"
    | "delivery"
    | "dead_letter"
    | "dead_letter_group"
    | "replay_batch";
  /** Public id, or the region's name. */
  readonly targetId: string;
  readonly reason: string;
  readonly ticket?: ErasePayload["ticket"];
}

export interface Changed {
  readonly tenantId: string | null;
  readonly version: number | null;
  readonly before: Facts;
  readonly after: Facts;
}

/** The rows do not allow it. Nothing is changed; that it was tried is recorded. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly result: "denied" | "conflict";
  readonly error: SluiceError;
  readonly before: Facts;

  constructor(result: "denied" | "conflict", error: SluiceError, before: Facts = {}) {
    super(error.message);
    this.result = result;
    this.error = error;
    this.before = before;
  }
}

/**
 * Runs one command.
 * @param change does the conditional UPDATE on the transaction's client; throws Refusal when the rows do not allow it
 * @throws SluiceError `version_conflict`, `state_conflict`, `forbidden`, `not_found`, `overloaded` when another change held
 *   the row for too long, `idempotency_mismatch` or `request_in_progress`; nothing was changed then
 */
export async function runCommand(
  context: CommandContext,
  subject: CommandSubject,
  change: (client: PoolClient, nowMs: number) => Promise<Changed>,
): Promise<CommandAnswer> {
  checkActor(context);
  const auditId = context.newId();
  let done: Done;
  try {
    done = await changeOnce(context, subject, auditId, change);
  } catch (error) {
    if (error instanceof Refusal) {
      await recordRefusal(context, subject, auditId, error);
      throw error.error;
    }
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) {
      throw new SluiceError("overloaded", "another change of the same row is still going on", {
        retryAfterMs: LOCK_TIMEOUT_MS,
      });
    }
    throw error;
  }
  const applied = await passBarrier(context.pool);
  // Losing it costs the probe's interval.
  await sendControlHint(context.pool).catch(() => undefined);
  return { ...done.answer, applied, ...(done.replayed ? { replayed: true as const } : {}) };
}

interface Done {
  readonly answer: StoredAnswer;
  readonly replayed: boolean;
}

/** Writes down that somebody tried what they may not. A refusal that cannot be recorded is still a refusal. */
export async function recordDenied(
  context: CommandContext,
  subject: CommandSubject,
  error: SluiceError,
): Promise<void> {
  await recordRefusal(context, subject, context.newId(), new Refusal("denied", error));
}

/**
 * Waits until no claim that began before this call can still commit. One statement, so that a caller that is stopped
 * can never hold the lock; the function gives up after ten seconds.
 */
export async function passBarrier(pool: Pick<Pool, "query">): Promise<boolean> {
  try {
    await pool.query("SELECT sluice.barrier()");
    return true;
  } catch {
    return false;
  }
}

function changeOnce(
  context: CommandContext,
  subject: CommandSubject,
  auditId: string,
  change: (client: PoolClient, nowMs: number) => Promise<Changed>,
): Promise<Done> {
  return transact(context.pool, BOUNDS, async (client) => {
    const clock = await client.query<{ region: string; now_ms: number }>(
      "SELECT region, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms FROM sluice.region_control",
    );
    const nowMs = Math.trunc(clock.rows[0]?.now_ms ?? Number.NaN);
    const actual = clock.rows[0]?.region ?? null;
    if (actual !== context.region) {
      throw new SluiceError("region_mismatch", `the database belongs to region ${actual ?? "none"}`, {
        expected: context.region,
        actual,
      });
    }
    const earlier = context.idempotency && (await takeKey(client, context, context.idempotency));
    const answer = earlier ?? (await perform(client, context, subject, { auditId, nowMs, change }));
    return { answer, replayed: Boolean(earlier) };
  });
}

/** The change, its audit row and, with a key, the answer that a repeat gets: together or not at all. */
async function perform(
  client: PoolClient,
  context: CommandContext,
  subject: CommandSubject,
  {
    auditId,
    nowMs,
    change,
  }: {
    readonly auditId: string;
    readonly nowMs: number;
    readonly change: (client: PoolClient, nowMs: number) => Promise<Changed>;
  },
): Promise<StoredAnswer> {
  const changed = await change(client, nowMs);
  await insertAudit(client, context, subject, auditId, { ...changed, result: "done" });
  const answer: StoredAnswer = {
    auditId: toPublicId("aud", auditId),
    version: changed.version,
    before: changed.before,
    after: changed.after,
    at: new Date(nowMs).toISOString(),
  };
  if (context.idempotency) await storeAnswer(client, context.actor, context.idempotency, answer);
  return answer;
}

/** A refusal that cannot be recorded is still a refusal: its own error is what the caller hears. */
async function recordRefusal(
  context: CommandContext,
  subject: CommandSubject,
  auditId: string,
  refusal: Refusal,
): Promise<void> {
  const { result, before, error } = refusal;
  const after = { refused: error.code, detail: error.detail };
  await insertAudit(context.pool, context, subject, auditId, {
    tenantId: context.tenantId ?? null,
    version: null,
    before,
    after,
    result,
  }).catch(() => undefined);
}

async function insertAudit(
  on: Pick<Pool, "query">,
  context: CommandContext,
  subject: CommandSubject,
  auditId: string,
  what: Changed & { readonly result: "done" | "denied" | "conflict" },
): Promise<void> {
  await on.query(
    `INSERT INTO sluice.operator_action
       (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, ticket, before, after, result, correlation_id)
     SELECT $1, rc.region, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM sluice.region_control rc`,
    [
      auditId,
      context.actor,
      context.role,
      subject.action,
      subject.targetKind,
      subject.targetId,
      what.tenantId,
      subject.reason,
      subject.ticket ?? null,
      JSON.stringify(what.before),
      JSON.stringify(what.after),
      what.result,
      context.correlationId,
    ],
  );
}

function checkActor({ actor, correlationId }: CommandContext): void {
  if (actor === "" || actor.length > ACTOR_MAX_CHARS) {
    throw new SluiceError("unauthenticated", "the command names no actor");
  }
  if (correlationId === "" || correlationId.length > CORRELATION_MAX_CHARS) {
    throw new SluiceError("invalid_body", "the correlation id is empty or too long");
  }
}
