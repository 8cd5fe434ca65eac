/**
 * The facts for domain/limit-steps.ts, read in the transaction of the change while its row is locked: what was in force
 * lately, when it was last raised, how many answers are 429, how far the role reaches. Two people who raise at once
 * cannot pass it together: the second one's version is old.
 */
import type { PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import {
  type LimitChange,
  type LimitName,
  refuseReach,
  refuseStep,
  type StepFacts,
  UNDO_WINDOW_MS,
} from "#domain/limit-steps.ts";
import type { OutcomeWord } from "#domain/outcome.ts";
import { type CommandContext, type Facts, type LimitRules, Refusal } from "./run-command.ts";

/** Minutes of the roll-up that the 429 share is of; the present one is not over yet. */
export const THROTTLE_MINUTES = 5;
/** Changes of one row within the undo window that are looked at. */
const MAX_CHANGES = 100;
const NO_RATE = Number.POSITIVE_INFINITY;

/** What one change of limits is about. */
export interface LimitSubject {
  readonly kind: "tenant" | "destination" | "region";
  /** Public id, or the region's name. */
  readonly id: string;
  /** UUIDs for the 429 share; null: of all. */
  readonly tenantId: string | null;
  readonly destinationId: string | null;
  /** Reads the limits in force from the facts of an audit row; only those that the row names. */
  readonly read: (facts: Facts) => Partial<Record<LimitName, number>>;
  readonly acknowledged: boolean;
}

/**
 * Checks a change of limits against the rules of the caller. Lowering passes without a look at anything.
 * @throws Refusal `forbidden` (denied), `bad_step`
 */
export async function checkLimits(
  client: PoolClient,
  context: Pick<CommandContext, "limitRules">,
  subject: LimitSubject,
  changes: readonly LimitChange[],
  { nowMs, before }: { readonly nowMs: number; readonly before: Facts },
): Promise<void> {
  const rules = context.limitRules;
  if (rules === undefined || !changes.some(({ from, to }) => to > from)) return;
  await checkReach(client, rules, subject, changes, before);
  if (!rules.steps) return;
  const facts = await readStepFacts(client, subject, changes, nowMs);
  const refusal = refuseStep(changes, { ...facts, acknowledged: subject.acknowledged });
  if (refusal === null) return;
  const { detail, retryAtMs, ...data } = refusal;
  const retryAt = retryAtMs === undefined ? {} : { retryAt: new Date(retryAtMs).toISOString() };
  throw new Refusal("conflict", new SluiceError("bad_step", detail, { ...data, ...retryAt }), before);
}

async function checkReach(
  client: PoolClient,
  { only }: LimitRules,
  { kind }: LimitSubject,
  changes: readonly LimitChange[],
  before: Facts,
): Promise<void> {
  if (only === undefined) return;
  const { rows } = await client.query<{ tenant: number; destination: number; rate: number }>(
    `SELECT policy_max_tenant_concurrency AS tenant, policy_max_destination_concurrency AS destination,
            policy_max_rate_per_second::float8 AS rate FROM sluice.region_control`,
  );
  const policy = rows[0] ?? { tenant: 0, destination: 0, rate: 0 };
  const bounds = { concurrency: kind === "tenant" ? policy.tenant : policy.destination, rate: policy.rate };
  const detail = refuseReach(only, changes, bounds);
  if (detail !== null) throw new Refusal("denied", new SluiceError("forbidden", detail, { only }), before);
}

async function readStepFacts(
  client: PoolClient,
  subject: LimitSubject,
  changes: readonly LimitChange[],
  nowMs: number,
): Promise<Omit<StepFacts, "acknowledged">> {
  const { lastRaiseMs, recentHighest } = await readHistory(client, subject);
  for (const { name, from } of changes) recentHighest[name] = Math.max(recentHighest[name] ?? 0, from);
  const { throttled, requests } = await readThrottle(
    async (text, values) => (await client.query(text, [...values])).rows,
    subject.tenantId,
    subject.destinationId,
  );
  return { nowMs, lastRaiseMs, recentHighest, throttledShare: requests === 0 ? null : throttled / requests };
}

type Query = (
  text: string,
  values: readonly unknown[],
) => Promise<readonly { throttled: number; requests: number }[]>;

/** Words of domain/outcome.ts behind which there was no request, or none that counts anew. */
const NO_REQUEST: readonly OutcomeWord[] = [
  "blocked_address",
  "bad_destination",
  "payload_erased",
  "config_error",
  "lease_expired",
  "stale_result",
];

/**
 * Answers of the last minutes, from the roll-up: by its primary key for a tenant or destination, one range for a region.
 * @param tenantId null: every tenant; then `destinationId` is null too
 */
export async function readThrottle(
  query: Query,
  tenantId: string | null,
  destinationId: string | null,
): Promise<{ readonly throttled: number; readonly requests: number }> {
  const whose =
    tenantId === null
      ? "$2::uuid IS NULL AND $3::uuid IS NULL"
      : "r.tenant_id = $2::uuid AND ($3::uuid IS NULL OR r.destination_id = $3::uuid)";
  const [row] = await query(
    `SELECT coalesce(sum(r.attempts) FILTER (WHERE r.outcome = 'rate_limited'), 0)::float8 AS throttled,
            coalesce(sum(r.attempts), 0)::float8 AS requests
       FROM sluice.attempt_rollup r
      WHERE r.minute = ANY (ARRAY(SELECT date_trunc('minute', clock_timestamp()) - n * interval '1 minute' FROM generate_series(0, $1::integer) n))
        AND ${whose} AND r.outcome <> ALL ($4::text[])`,
    [THROTTLE_MINUTES, tenantId, destinationId, NO_REQUEST],
  );
  return row ?? { throttled: 0, requests: 0 };
}

/** What the audit says of a change that was made out of step on purpose. */
export function outOfStep({ limitRules }: Pick<CommandContext, "limitRules">): Facts {
  return limitRules?.steps === false ? { outOfStep: true } : {};
}

/** Actions whose facts name limits. */
const LIMIT_ACTIONS = [
  "tenant.limits",
  "destination.limits",
  "destination.pin_adaptive",
  "region.defaults",
] as const;

/** The changes of a row's limits within the undo window, the newest first. */
export const LIMIT_HISTORY = `
  SELECT (extract(epoch FROM at) * 1000)::float8 AS at_ms, before, after FROM sluice.operator_action
   WHERE target_kind = $1 AND target_id = $2 AND action = ANY ($3::text[]) AND result = 'done'
     AND at > clock_timestamp() - $4::float8 * interval '1 millisecond'
   ORDER BY at DESC LIMIT $5`;

export interface LimitHistoryRow {
  readonly at_ms: number;
  readonly before: Facts;
  readonly after: Facts;
}

export function historyValues(kind: string, id: string): unknown[] {
  return [kind, id, LIMIT_ACTIONS, UNDO_WINDOW_MS, MAX_CHANGES];
}

async function readHistory(
  client: PoolClient,
  { kind, id, read }: LimitSubject,
): Promise<{ lastRaiseMs: number | null; recentHighest: Partial<Record<LimitName, number>> }> {
  const { rows } = await client.query<LimitHistoryRow>(LIMIT_HISTORY, historyValues(kind, id));
  return foldHistory(rows, read);
}

/** When a limit was last raised, and the highest values that were in force. */
export function foldHistory(
  rows: readonly LimitHistoryRow[],
  read: LimitSubject["read"],
): { lastRaiseMs: number | null; recentHighest: Partial<Record<LimitName, number>> } {
  let lastRaiseMs: number | null = null;
  const recentHighest: Partial<Record<LimitName, number>> = {};
  for (const row of rows) {
    const [from, to] = [read(row.before), read(row.after)];
    for (const name of Object.keys(to) as LimitName[]) {
      const [low, high] = [from[name] ?? to[name] ?? 0, to[name] ?? 0];
      recentHighest[name] = Math.max(recentHighest[name] ?? 0, low, high);
      const counts = name === "concurrency" || name === "rate";
      if (counts && high > low) lastRaiseMs = Math.max(lastRaiseMs ?? 0, row.at_ms);
    }
  }
  return { lastRaiseMs, recentHighest };
}

/** A number of an audit row; null there means `empty`. Undefined: the row does not name it. */
export function factNumber(facts: Facts, field: string, empty: number): number | undefined {
  const value = facts[field];
  if (value === undefined) return undefined;
  return typeof value === "number" ? value : empty;
}

/** Limits of a tenant or destination as their facts name them. */
export function readLimitFacts(inherited: number): LimitSubject["read"] {
  return (facts) =>
    named({
      concurrency: factNumber(facts, "concurrencyLimit", inherited),
      rate: factNumber(facts, "ratePerSecond", NO_RATE),
      burst: factNumber(facts, "rateBurst", 1),
    });
}

/** Leaves out what is undefined. */
export function named(
  limits: Partial<Record<LimitName, number | undefined>>,
): Partial<Record<LimitName, number>> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
