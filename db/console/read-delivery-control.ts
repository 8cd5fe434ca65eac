/**
 * What stands before a dialog that steers one delivery: its state, what keeps it, and why a command would be refused. The
 * words are those of the commands themselves; that they still hold is decided when the command runs.
 */
import type { DeliveryState, Lane } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type Grant, permitsOf, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { BLOCKER_COLUMNS, BLOCKER_JOINS, type BlockerRow, blockersOf } from "./blockers.ts";
import type { DeliveryControlView, DeliveryRefusals } from "./control-views.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

const ACTIONS = ["retry_now", "cancel", "will_not_replay", "erase_payload"] as const;

/** $1 the time of the answer, $2 the delivery, $3 the tenants of the scope (null: all). */
const IN_SCOPE = "($3::uuid[] IS NULL OR b.tenant_id = ANY ($3))";
const DELIVERY = `
  WITH d AS MATERIALIZED (
    SELECT b.id, b.tenant_id, b.destination_id, b.payload_id, b.replay_batch_id, b.state::text AS state, b.lane::text AS lane, b.due_at,
           b.attempts, NULL::integer AS dead_version, NULL::timestamptz AS will_not_replay_at
      FROM sluice.delivery b WHERE b.id = $2 AND ${IN_SCOPE}
    UNION ALL
    SELECT b.id, b.tenant_id, b.destination_id, b.payload_id, b.replay_batch_id, 'dead', NULL, b.due_at, b.attempts, b.version, b.will_not_replay_at
      FROM sluice.dead_letter b WHERE b.id = $2 AND ${IN_SCOPE}
    UNION ALL
    SELECT b.id, b.tenant_id, b.destination_id, b.payload_id, b.replay_batch_id, b.state, NULL, b.due_at, b.attempts, NULL, NULL
      FROM sluice.delivery_archive b WHERE b.id = $2 AND ${IN_SCOPE}
    LIMIT 1)
  SELECT d.*, coalesce(t.name, 'Deleted tenant') AS tenant_name, ${BLOCKER_COLUMNS},
         p.erased_at IS NOT NULL AS erased, pr.payload_id IS NOT NULL AS restricted, p.size_bytes
    FROM d ${BLOCKER_JOINS}
    LEFT JOIN sluice.payload p ON p.id = d.payload_id
    LEFT JOIN sluice.payload_restricted pr ON pr.payload_id = d.payload_id
   LIMIT 1`;

interface ControlRow extends BlockerRow {
  id: string;
  tenant_id: string;
  tenant_name: string;
  destination_id: string;
  payload_id: string;
  state: DeliveryState;
  lane: Lane | null;
  due_at: Date;
  attempts: number;
  dead_version: number | null;
  will_not_replay_at: Date | null;
  erased: boolean;
  restricted: boolean;
  size_bytes: number | null;
}

/** @throws SluiceError `bad_id`; `not_found`, also for what is outside of the scope */
export async function readDeliveryControlView(
  access: AccessScope,
  grants: readonly Grant[],
  { region, id: publicId }: { readonly region: Region; readonly id: string },
): Promise<RegionAnswer<DeliveryControlView>> {
  const scope = tenantsIn(access, region);
  const id = fromPublicId("dlv", publicId);
  return readRegion(region, async (sql, asOf) => {
    const [row] = await sql<ControlRow>(DELIVERY, [asOf, id, scope]);
    if (row === undefined) throw new SluiceError("not_found", `No delivery ${publicId} in your scope.`);
    return {
      id: toPublicId("dlv", row.id),
      region,
      tenantId: toPublicId("ten", row.tenant_id),
      tenantName: row.tenant_name,
      destinationId: toPublicId("dst", row.destination_id),
      state: row.state,
      version: row.dead_version,
      dueAt: row.due_at.toISOString(),
      attempts: row.attempts,
      inFlight: row.state === "leased",
      blockers: blockersOf(row, asOf).map(({ code }) => code),
      payload: {
        id: toPublicId("pay", row.payload_id),
        erased: row.erased && !row.restricted,
        restricted: row.restricted,
        sizeBytes: row.size_bytes,
      },
      refused: refusalsOf(row, asOf),
      permit: permitsOf(grants, ACTIONS, { region, tenantId: row.tenant_id }),
    };
  });
}

function refusalsOf(row: ControlRow, asOf: Date): DeliveryRefusals {
  return {
    retryNow: refuseRetry(row, asOf),
    cancel: refuseCancel(row),
    willNotReplay: refuseWillNotReplay(row),
    erase: refuseErase(row),
  };
}

/** Words for a delivery that is no longer waiting; null for one that is. */
function refuseEnded({ state }: ControlRow): string | null {
  if (state === "leased") return "The delivery is in flight.";
  if (state === "dead") return "A dead letter needs a reviewed batch.";
  return state === "ready" || state === "delayed" ? null : `The delivery has ended: ${state}.`;
}

/** In the order in which live-delivery.ts asks. */
function heldWords(row: ControlRow, asOf: Date): string | null {
  const ahead = (until: Date | null) => until !== null && until > asOf;
  if (row.draining) return "the claims of the region are stopped";
  if (ahead(row.tenant_pause_until)) return "its tenant is paused";
  if (ahead(row.destination_pause_until)) return "its destination is paused";
  if (row.disabled) return "its destination is disabled";
  return ahead(row.hold_until) ? "the gate of its destination is shut" : null;
}

function refuseRetry(row: ControlRow, asOf: Date): string | null {
  const ended = refuseEnded(row);
  if (ended !== null) return ended;
  if (row.state !== "delayed")
    return "The delivery has not been tried yet: it leaves as soon as nothing holds it.";
  const held = heldWords(row, asOf);
  if (held !== null) return `The delivery is held: ${held}.`;
  return row.due_at <= asOf ? "The delivery is due already." : null;
}

function refuseCancel(row: ControlRow): string | null {
  if (row.state === "dead")
    return "A dead letter is not waiting. Say that it will not be replayed, or replay it.";
  return (
    refuseEnded(row) ??
    (row.lane === "replay" ? "The delivery belongs to a replay batch: stop the batch." : null)
  );
}

function refuseWillNotReplay(row: ControlRow): string | null {
  if (row.state !== "dead") return "It is no dead letter.";
  return row.will_not_replay_at === null ? null : "It was said already that this one will not be replayed.";
}

function refuseErase(row: ControlRow): string | null {
  if (row.size_bytes === null) return "Retention has taken the body.";
  return row.erased && !row.restricted ? "The body was erased already." : null;
}
