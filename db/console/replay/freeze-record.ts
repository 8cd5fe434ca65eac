/**
 * Every set that was put before a second person, kept as it was, and what is different in the next one. A record is written
 * in the transaction of the freeze and never changes (the database refuses).
 */
import type { PoolClient } from "pg";
import { toPublicId } from "#domain/ids.ts";
import { diffFacts, diffSet, type ReviewFacts } from "#domain/replay-diff.ts";
import type { ReplayBatchRow } from "../../queue/replay-rows.ts";
import type { Reader } from "../read-region.ts";
import type { ReplayDiff } from "./replay-views.ts";

interface Rate {
  readonly destinationId: string;
  readonly ratePerSecond: number;
}

/** What a person reads of a batch beside its entries. `lanes` null: a draft, which has no rates yet. */
function factsOf(batch: ReplayBatchRow, lanes: readonly Rate[] | null): ReviewFacts {
  const rates = lanes?.map(
    ({ destinationId, ratePerSecond }) => [toPublicId("dst", destinationId), ratePerSecond] as const,
  );
  return {
    name: batch.name,
    reason: batch.reason,
    ticket: batch.ticket,
    rootCause: batch.root_cause,
    fixUrl: batch.fix_url,
    checklist: batch.checklist,
    plan: batch.plan,
    ...(rates === undefined ? {} : { lanes: Object.fromEntries(rates) }),
  };
}

/** Keeps what is frozen now. The caller holds the batch's lock. */
export async function recordFreeze(
  client: PoolClient,
  batch: ReplayBatchRow,
  frozen: {
    readonly actor: string;
    readonly sha256: Buffer;
    readonly lanes: readonly Rate[];
    readonly ids: readonly string[];
  },
): Promise<void> {
  await client.query(
    `INSERT INTO sluice.replay_freeze (batch_id, number, region, actor, sha256, facts, delivery_ids)
     SELECT $1, (SELECT coalesce(max(f.number), 0) + 1 FROM sluice.replay_freeze f WHERE f.batch_id = $1), rc.region, $2, $3, $4, $5
       FROM sluice.region_control rc`,
    [
      batch.id,
      frozen.actor,
      frozen.sha256,
      JSON.stringify(factsOf(batch, frozen.lanes)),
      [...frozen.ids].sort(),
    ],
  );
}

interface FreezeRow {
  readonly at: Date;
  readonly facts: ReviewFacts;
  readonly delivery_ids: readonly string[];
}

/** Null for a batch that was never sent back, and for one that has been started: nobody reviews it any more. */
export async function diffOf(sql: Reader, batch: ReplayBatchRow): Promise<ReplayDiff | null> {
  if (!["draft", "in_review", "approved"].includes(batch.state)) return null;
  const freezes = await sql<FreezeRow>(
    "SELECT f.at, f.facts, f.delivery_ids FROM sluice.replay_freeze f WHERE f.batch_id = $1 ORDER BY f.number DESC LIMIT 2",
    [batch.id],
  );
  const isDraft = batch.state === "draft";
  const before = freezes[isDraft ? 0 : 1];
  if (before === undefined) return null;
  const after = isDraft ? await ofDraft(sql, batch) : freezes[0];
  if (after === undefined) return null;
  const { lanes, ...words } = before.facts;
  const sentBack = await sentBackAfter(sql, batch.id, before.at);
  return {
    frozenAt: before.at.toISOString(),
    requestedBy: sentBack?.actor ?? null,
    requestedAt: sentBack?.at.toISOString() ?? null,
    comment: sentBack?.detail ?? null,
    fields: diffFacts(isDraft ? words : { ...words, lanes }, after.facts),
    ...namedSet(before.delivery_ids, after.delivery_ids),
  };
}

function namedSet(before: readonly string[], after: readonly string[]) {
  const { addedIds, removedIds, ...counts } = diffSet(before, after);
  const named = (ids: readonly string[]) => ids.map((id) => toPublicId("dlv", id));
  return { ...counts, addedIds: named(addedIds), removedIds: named(removedIds) };
}

async function ofDraft(sql: Reader, batch: ReplayBatchRow): Promise<Omit<FreezeRow, "at">> {
  const rows = await sql<{ delivery_id: string }>(
    "SELECT i.delivery_id FROM sluice.replay_item i WHERE i.batch_id = $1 LIMIT 5000",
    [batch.id],
  );
  return { facts: factsOf(batch, null), delivery_ids: rows.map(({ delivery_id }) => delivery_id) };
}

async function sentBackAfter(
  sql: Reader,
  batchId: string,
  at: Date,
): Promise<{ actor: string; at: Date; detail: string | null } | undefined> {
  const [row] = await sql<{ actor: string; at: Date; detail: string | null }>(
    `SELECT e.actor, e.at, e.detail FROM sluice.replay_event e
      WHERE e.batch_id = $1 AND e.kind = 'request_changes' AND e.at >= $2 ORDER BY e.at, e.id LIMIT 1`,
    [batchId, at],
  );
  return row;
}
