/** What a worker reads by id: its claimed rows with their bodies, destinations, limits, policies. */
import {
  type ChangedLimits,
  type DestinationRow,
  type LimitRow,
  MAX_CHANGED_LIMITS,
} from "#db/queue/configuration.ts";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import type { Us } from "#sim/scheduler.ts";
import { type Database, type DeliveryRow, REPLAY_ATTEMPTS, type Tables } from "./tables.ts";
import { fromMs, toFloatMs } from "./time.ts";

export function readRows({ tables }: Database, ids: readonly string[], token: string): ClaimedDelivery[] {
  const rows: ClaimedDelivery[] = [];
  for (const id of new Set(ids)) {
    const row = tables.deliveries.get(id);
    if (row?.leaseToken !== token) continue;
    const destination = tables.destinations.get(row.destinationId);
    if (destination !== undefined) rows.push(claimedOf(tables, row, destination.version));
  }
  return rows;
}

function claimedOf(tables: Tables, row: DeliveryRow, destinationVersion: number): ClaimedDelivery {
  const payload = tables.payloads.get(row.payloadId);
  return {
    id: row.id,
    token: row.leaseToken as string,
    tenantId: row.tenantId,
    destinationId: row.destinationId,
    destinationVersion,
    eventType: row.eventType,
    idempotencyKey: row.idempotencyKey,
    traceparent: null,
    serviceClass: row.serviceClass,
    lane: row.lane,
    replayBatchId: row.replayBatchId,
    replayAttempts: row.replayBatchId === null ? null : REPLAY_ATTEMPTS,
    // No simulated tenant asks for the second name.
    replayHeader: row.replayBatchId === null ? null : false,
    // extract(epoch ...)::float8 * 1000, which rounds twice.
    dueMs: (row.dueUs / 1_000_000) * 1000,
    attempts: row.attempts,
    failures: row.failures,
    rejections: row.rejections,
    throttles: row.throttles,
    throttledMs: row.throttledMs,
    lostLeases: row.lostLeases,
    cycle: row.cycle,
    consecutiveGates: tables.states.get(row.destinationId)?.consecutiveGates ?? 0,
    payloadBytes: row.payloadBytes,
    contentType: payload?.contentType ?? null,
    body: payload?.body ?? null,
  };
}

export function findDestinations({ tables }: Database, ids: readonly string[]): DestinationRow[] {
  return [...new Set(ids)].flatMap((id) => {
    const row = tables.destinations.get(id);
    if (row === undefined) return [];
    const { version, url, secretCurrent, policyOverride } = row;
    return [
      {
        id,
        version,
        url,
        secretCurrent,
        secretPrevious: null,
        secretPreviousUntilMs: null,
        plainSignatureHeader: null,
        policyOverride,
      },
    ];
  });
}

export function findLimits({ tables }: Database, ids: readonly string[]): LimitRow[] {
  return [...new Set(ids)].flatMap((destinationId) => {
    const destination = tables.destinations.get(destinationId);
    const tenant = tables.tenants.get(destination?.tenantId ?? "");
    if (!destination || !tenant) return [];
    return [
      {
        destinationId,
        tenantId: tenant.id,
        tenantWeight: tenant.weight,
        tenantConcurrency: tenant.concurrencyLimit ?? tables.defaultTenantConcurrency,
        destinationConcurrency: destination.concurrencyLimit ?? tables.defaultDestinationConcurrency,
        ratePerSecond: destination.ratePerSecond,
        rateBurst: destination.rateBurst,
      },
    ];
  });
}

export function findChangedLimits({ tables, nowUs }: Database, sinceMs: number): ChangedLimits {
  const sinceUs = fromMs(sinceMs);
  const rows: { id: string; atUs: Us }[] = [];
  for (const { id, limitsChangedAtUs } of tables.destinations.values())
    rows.push({ id, atUs: limitsChangedAtUs });
  for (const { id, tenantId } of tables.destinations.values()) {
    const tenant = tables.tenants.get(tenantId);
    if (tenant !== undefined) rows.push({ id, atUs: tenant.limitsChangedAtUs });
  }
  const changes = rows
    .filter(({ atUs }) => atUs > sinceUs)
    .map(({ id, atUs }) => ({ destinationId: id, change: `${id}@${atUs}` }));
  return {
    nowMs: toFloatMs(nowUs()),
    changes,
    more: changes.length > MAX_CHANGED_LIMITS,
    defaults: `${tables.defaultTenantConcurrency}/${tables.defaultDestinationConcurrency}`,
  };
}
