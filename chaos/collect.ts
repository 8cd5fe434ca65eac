/** Gathers the evidence of a run that has come to rest. It reads; it never decides what is wrong. */
import type { RequestRecord } from "#demo/receiver/types.ts";
import { fromPublicId } from "#domain/ids.ts";
import type { Evidence, RequestEvidence } from "./evidence.ts";
import { CHAOS_POLICY } from "./places.ts";
import { readAttempts, readRows } from "./sql.ts";
import type { World } from "./world.ts";

export async function collect(world: World): Promise<Evidence> {
  const { us, eu } = world.regions;
  const { client } = world.receiver;
  const [stats, totals, requests] = [await client.allStats(), await client.totals(), await client.requests()];
  return {
    ledger: [...us.load.ledger, ...eu.load.ledger],
    rolledBackKeys: [...us.load.rolledBackKeys, ...eu.load.rolledBackKeys],
    places: [...us.places, ...eu.places],
    rows: { us: await readRows(us.pool), eu: await readRows(eu.pool) },
    attempts: { us: await readAttempts(us.pool), eu: await readAttempts(eu.pool) },
    requests: requests.map(toEvidence),
    peaks: Object.fromEntries(
      stats.map(({ destination, peakConcurrency }) => [destination, peakConcurrency]),
    ),
    harms: world.log.harms,
    forgotten: totals.recordsDropped + totals.keysForgotten,
    leaseMs: CHAOS_POLICY.leaseMs,
  };
}

function toEvidence(record: RequestRecord): RequestEvidence {
  return {
    arrivedAtMs: record.arrivedAtMs,
    answeredAtMs: record.answeredAtMs ?? record.endedAtMs,
    receiverName: record.destination,
    key: record.key,
    deliveryId: uuidOf(record.webhookId),
    attempt: record.attempt,
    region: record.region,
    bodySha256: record.bodySha256,
    effect: record.effect,
    status: record.status,
  };
}

function uuidOf(webhookId: string | null): string | null {
  try {
    return webhookId === null ? null : fromPublicId("dlv", webhookId);
  } catch {
    return null;
  }
}
