/**
 * Submit: the draft becomes a fixed set. Ids, versions, plan, destinations and order are stored, and SHA-256 over them is what
 * the second person approves. Nothing may be frozen that was not looked at, and no entry that another open batch has.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { ReplayChecklist, ReplayCommand } from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { canarySize } from "#domain/replay.ts";
import { type FrozenItem, type FrozenLane, freezeHash } from "#domain/replay-freeze.ts";
import { defaultRate, plannedMs } from "#domain/replay-plan.ts";
import { drawSample, MIN_INSPECTED, releaseOrder } from "#domain/replay-sample.ts";
import { addEvent, type ReplayBatchRow, readPolicy, stepBatch } from "../../queue/replay-rows.ts";
import { stateConflict } from "../commands/locked-row.ts";
import { type CommandAnswer, type CommandContext, Refusal, runCommand } from "../commands/run-command.ts";
import { parentOf, requireNewCause } from "./follow-up.ts";
import { recordFreeze } from "./freeze-record.ts";
import { batchFacts, lockReplay, tenantOf } from "./locked-batch.ts";

const UNIQUE_VIOLATION = "23505";
const MAX_NAMED_IDS = 100;

interface ItemRow {
  readonly id: string;
  readonly destinationId: string;
  readonly tenantId: string;
  readonly reason: string;
  readonly version: number;
  readonly cycle: number;
  readonly diedMs: number;
}

/**
 * Freezes the draft for review.
 * @throws SluiceError `replay_not_ready`, `replay_overlap` (`ids`), `replay_same_cause` of a follow-up, `state_conflict`, and those of readCommand and runCommand
 */
export async function submitReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  const { batchId: targetId, reason, ticket, version } = command;
  return runCommand(
    context,
    { action: "replay.submit", targetKind: "replay_batch", targetId, reason, ticket },
    async (client) => {
      const batch = await lockReplay(client, targetId, version);
      const before = batchFacts(batch);
      if (batch.state !== "draft") throw stateConflict(`the batch is ${batch.state}`, before);
      const dropped = await dropChanged(client, batch.id);
      const items = await readItems(client, batch.id);
      requireInspection(batch, items, context.role === "admin");
      const parent = await parentOf(client, batch.parent_id);
      if (parent !== null) requireNewCause(parent, batch.root_cause);
      const lanes = await writeLanes(client, batch, context);
      const frozen = await freezeItems(client, batch.id, items);
      const sha256 = freezeHash({
        batchId: batch.id,
        region: context.region,
        plan: batch.plan,
        items: frozen,
        lanes,
      });
      const policy = await readPolicy(client);
      const next = await stepBatch(client, batch, "in_review", {
        sql: "frozen_sha256 = $4, submitted_at = clock_timestamp(), canary_size = $5, policy_version = $6, submitted_by = $7",
        values: [Buffer.from(sha256), canarySize(items.length), policy.version, context.actor],
      });
      await recordFreeze(client, batch, {
        actor: context.actor,
        sha256: Buffer.from(sha256),
        lanes,
        ids: frozen.map(({ id }) => id),
      });
      const after = {
        state: "in_review",
        items: items.length,
        dropped,
        sha256: Buffer.from(sha256).toString("hex"),
        plannedMs: Math.round(plannedMs(lanesWithItems(lanes, items))),
      };
      await addEvent(client, {
        id: context.newId(),
        batchId: batch.id,
        kind: "submit",
        actor: context.actor,
        from: "draft",
        to: "in_review",
        detail: reason,
        facts: after,
      });
      return { tenantId: tenantOf(batch), version: next, before, after };
    },
  );
}

function lanesWithItems(
  lanes: readonly FrozenLane[],
  items: readonly ItemRow[],
): { items: number; ratePerSecond: number }[] {
  return lanes.map(({ destinationId, ratePerSecond }) => ({
    ratePerSecond,
    items: items.filter((item) => item.destinationId === destinationId).length,
  }));
}

/** Entries that are no longer what was selected leave the draft: they were not looked at as they are now. */
async function dropChanged(client: PoolClient, batchId: string): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM sluice.replay_item i WHERE i.batch_id = $1 AND i.state = 'selected' AND NOT EXISTS (
       SELECT 1 FROM sluice.dead_letter d
        WHERE d.id = i.delivery_id AND d.version = i.dead_letter_version AND d.cycle = i.dead_letter_cycle AND d.will_not_replay_at IS NULL)`,
    [batchId],
  );
  return rowCount ?? 0;
}

async function readItems(client: PoolClient, batchId: string): Promise<ItemRow[]> {
  const { rows } = await client.query<ItemRow>(
    `SELECT i.delivery_id AS id, i.destination_id AS "destinationId", i.tenant_id AS "tenantId", i.reason, i.dead_letter_version AS version,
            i.dead_letter_cycle AS cycle, (extract(epoch FROM i.died_at) * 1000)::float8 AS "diedMs"
       FROM sluice.replay_item i WHERE i.batch_id = $1 AND i.state = 'selected' LIMIT 5000`,
    [batchId],
  );
  return rows;
}

function requireInspection(batch: ReplayBatchRow, items: readonly ItemRow[], isAdmin: boolean): void {
  const missing: string[] = [];
  if (items.length === 0) missing.push("no entry is left in the batch");
  const sample = drawSample(items, batch.sample_seed ?? batch.id);
  const opened = sample.filter(({ id }) => batch.inspected.includes(id)).length;
  const needed = Math.min(MIN_INSPECTED, sample.length);
  if (opened < needed) missing.push(`${opened} of ${needed} sampled entries were opened`);
  if (batch.root_cause === null) missing.push("the root cause is not named");
  const checklist = ReplayChecklist.safeParse(batch.checklist);
  if (!checklist.success) missing.push("the checklist is not complete");
  else if (!isAdmin) {
    for (const [name, { yes }] of Object.entries(checklist.data)) {
      if (!yes) missing.push(`the checklist says no to ${name}: that needs an administrator`);
    }
  }
  if (missing.length === 0) return;
  throw new Refusal(
    "conflict",
    new SluiceError("replay_not_ready", missing.join("; "), { missing }),
    batchFacts(batch),
  );
}

/** 7 days of successes by the minute, from the chart's own counts. */
const LANES = `
  SELECT i.destination_id, i.tenant_id, x.rate_per_second::float8 AS limit_per_second, sluice.destination_print(i.destination_id) AS print,
         (SELECT sum(m.delivered)::float8 / 604800 FROM sluice.series_minute m
           WHERE m.destination_id = i.destination_id AND m.minute > clock_timestamp() - interval '7 days') AS normal_per_second
    FROM (SELECT DISTINCT r.destination_id, r.tenant_id FROM sluice.replay_item r WHERE r.batch_id = $1 AND r.state = 'selected') i
    JOIN sluice.destination x ON x.id = i.destination_id LIMIT 5000`;

async function writeLanes(
  client: PoolClient,
  batch: ReplayBatchRow,
  context: CommandContext,
): Promise<FrozenLane[]> {
  const { rows } = await client.query<{
    destination_id: string;
    tenant_id: string;
    limit_per_second: number | null;
    normal_per_second: number | null;
    print: string;
  }>(LANES, [batch.id]);
  const lanes = rows.map((row) => ({
    destinationId: row.destination_id,
    tenantId: row.tenant_id,
    print: row.print,
    ratePerSecond:
      batch.plan.ratePerSecond ??
      defaultRate({ normalPerSecond: row.normal_per_second, limitPerSecond: row.limit_per_second }),
  }));
  await client.query("DELETE FROM sluice.replay_lane WHERE batch_id = $1", [batch.id]);
  await client.query(
    `INSERT INTO sluice.replay_lane (batch_id, destination_id, tenant_id, region, rate_per_second, print)
     SELECT $1, l.destination_id, l.tenant_id, $6, l.rate, l.print FROM unnest($2::uuid[], $3::uuid[], $4::float8[], $5::text[]) AS l(destination_id, tenant_id, rate, print)`,
    [
      batch.id,
      lanes.map(({ destinationId }) => destinationId),
      lanes.map(({ tenantId }) => tenantId),
      lanes.map(({ ratePerSecond }) => ratePerSecond),
      lanes.map(({ print }) => print),
      context.region,
    ],
  );
  return lanes.map(({ destinationId, ratePerSecond, print }) => ({ destinationId, ratePerSecond, print }));
}

async function freezeItems(
  client: PoolClient,
  batchId: string,
  items: readonly ItemRow[],
): Promise<FrozenItem[]> {
  await refuseOverlap(client, batchId);
  const frozen = releaseOrder(items).map(({ id, version, cycle }, seq) => ({ id, version, cycle, seq }));
  const first = canarySize(items.length);
  await client
    .query(
      `UPDATE sluice.replay_item i SET state = 'frozen', seq = f.seq, canary = f.seq < $3
         FROM unnest($2::uuid[]) WITH ORDINALITY AS u(id, nr) CROSS JOIN LATERAL (SELECT (u.nr - 1)::integer AS seq) f
        WHERE i.batch_id = $1 AND i.delivery_id = u.id`,
      [batchId, frozen.map(({ id }) => id), first],
    )
    .catch((error: unknown) => {
      // Another batch was frozen in the same moment.
      if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      throw overlap([]);
    });
  return frozen;
}

/** Field fault 38: a delivery is in at most one open batch, and the second person is told which ones. */
async function refuseOverlap(client: PoolClient, batchId: string): Promise<void> {
  const { rows } = await client.query<{ delivery_id: string }>(
    `SELECT i.delivery_id FROM sluice.replay_item i WHERE i.batch_id = $1 AND EXISTS (
       SELECT 1 FROM sluice.replay_item o WHERE o.delivery_id = i.delivery_id AND o.batch_id <> $1 AND o.state IN ('frozen', 'released'))
      ORDER BY i.delivery_id LIMIT ${MAX_NAMED_IDS}`,
    [batchId],
  );
  if (rows.length > 0) throw overlap(rows.map(({ delivery_id }) => toPublicId("dlv", delivery_id)));
}

function overlap(ids: readonly string[]): Refusal {
  return new Refusal(
    "conflict",
    new SluiceError("replay_overlap", "some of the entries are in another open batch", { ids }),
  );
}

/** The hash of what stands in the rows now, for the start: it must be the one that was approved. */
export async function hashOfRows(client: PoolClient, batch: ReplayBatchRow, region: string): Promise<Buffer> {
  const items = await client.query<FrozenItem>(
    `SELECT i.delivery_id AS id, i.dead_letter_version AS version, i.dead_letter_cycle AS cycle, i.seq
       FROM sluice.replay_item i WHERE i.batch_id = $1 AND i.seq IS NOT NULL LIMIT 5000`,
    [batch.id],
  );
  const lanes = await client.query<FrozenLane>(
    `SELECT l.destination_id AS "destinationId", l.rate_per_second::float8 AS "ratePerSecond", l.print FROM sluice.replay_lane l WHERE l.batch_id = $1 LIMIT 5000`,
    [batch.id],
  );
  return Buffer.from(
    freezeHash({ batchId: batch.id, region, plan: batch.plan, items: items.rows, lanes: lanes.rows }),
  );
}
