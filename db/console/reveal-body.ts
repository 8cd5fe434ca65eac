/**
 * Shows a body to a person who may see it. The view and its audit row are one transaction: nothing is shown that was not
 * written down, and the audit says what was shown and never the bytes. Bodies go out as text with a bound; a program that
 * wants them whole has its own copy.
 */
import type { PoolClient } from "pg";
import { bodyText, MAX_SHOWN_BYTES } from "#domain/body-text.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type Grant, requirePermit } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { regionPool } from "../regions.ts";
import { type TransactionBounds, transact } from "../transact.ts";
import { explainOutage } from "./read-region.ts";

const BOUNDS: TransactionBounds = { lockMs: 1_000, statementMs: 3_000, idleMs: 2_000 };
const NO_REASON = "no reason given";

/** Who looks. */
export interface RevealBy {
  readonly actor: string;
  readonly grants: readonly Grant[];
  readonly correlationId: string;
}

export interface RevealRequest {
  readonly region: Region;
  /** `dlv_...` */
  readonly deliveryId: string;
  readonly what: "payload" | "response";
  /** Number of the attempt whose response is meant; the latest with an answer when absent. */
  readonly attempt?: number | undefined;
  readonly reason?: string | undefined;
}

export interface RevealedBody {
  /** `aud_...`: the row that says who saw it, when. */
  auditId: string;
  at: string;
  what: "payload" | "response";
  attempt: number | null;
  contentType: string | null;
  /** Size of the whole, as far as it is known. */
  sizeBytes: number;
  /** Bytes in `text`. */
  shownBytes: number;
  /** True: there was more than is shown. */
  truncated: boolean;
  /** Set for a payload that was erased; there is no text then. */
  erasedAt: string | null;
  /** Set for a payload that is restricted: it is kept apart and shown to nobody, there is no text. */
  restrictedAt: string | null;
  text: string | null;
  /** False: it is no UTF-8 text; `text` has replacements and `hex` the first bytes. */
  isText: boolean;
  hex: string | null;
}

/**
 * Reads one body and records the view.
 * @throws SluiceError `not_found` outside of what may be read, or when the body is stored no longer; `forbidden` without
 *   the permission; `invalid_body` for an attempt without `response`; `bad_id`; `region_unavailable`
 */
export async function revealBody(by: RevealBy, request: RevealRequest): Promise<RevealedBody> {
  if (request.what === "payload" && request.attempt !== undefined) {
    throw new SluiceError("invalid_body", "attempt goes with the response of one, not with the payload");
  }
  const id = fromPublicId("dlv", request.deliveryId);
  try {
    return await transact(regionPool(request.region), BOUNDS, (client) => reveal(client, by, request, id));
  } catch (error) {
    const outage = explainOutage(error);
    if (outage === null) throw error;
    throw new SluiceError("region_unavailable", outage, { region: request.region }, { cause: error });
  }
}

interface Owner {
  tenant_id: string;
  payload_id: string;
  created_at: Date;
}

interface Stored {
  body: Buffer | null;
  contentType: string | null;
  sizeBytes: number;
  /** More was sent than is stored. */
  cut: boolean;
  erasedAt: Date | null;
  restrictedAt: Date | null;
  attempt: number | null;
}

async function reveal(
  client: PoolClient,
  by: RevealBy,
  request: RevealRequest,
  id: string,
): Promise<RevealedBody> {
  const { region, deliveryId, what } = request;
  await assertRegion(client, region);
  const owners = await client.query<Owner>(
    "SELECT tenant_id, payload_id, created_at FROM sluice.delivery_all WHERE id = $1 LIMIT 1",
    [id],
  );
  const owner = owners.rows[0];
  if (owner === undefined) throw new SluiceError("not_found", `No delivery ${deliveryId} in your scope.`);
  const { role } = requirePermit(by.grants, "reveal_body", { region, tenantId: owner.tenant_id });
  const stored =
    what === "payload"
      ? await readPayload(client, owner)
      : await readResponse(client, id, owner, request.attempt);
  const shown = stored.body?.subarray(0, MAX_SHOWN_BYTES) ?? null;
  const truncated = stored.cut || (stored.body !== null && stored.body.length > MAX_SHOWN_BYTES);
  const facts = {
    what,
    attempt: stored.attempt,
    sizeBytes: stored.sizeBytes,
    shownBytes: shown?.length ?? 0,
    erased: stored.erasedAt !== null,
    ...(stored.restrictedAt === null ? {} : { restricted: true }),
  };
  const audit = await client.query<{ id: string; at: Date }>(AUDIT, [
    by.actor,
    role,
    deliveryId,
    owner.tenant_id,
    request.reason ?? NO_REASON,
    JSON.stringify(facts),
    by.correlationId,
  ]);
  const row = audit.rows[0];
  if (row === undefined) throw new Error("the view was not recorded");
  const decoded = shown === null ? null : bodyText(shown, truncated);
  return {
    auditId: toPublicId("aud", row.id),
    at: row.at.toISOString(),
    what,
    attempt: stored.attempt,
    contentType: stored.contentType,
    sizeBytes: stored.sizeBytes,
    shownBytes: facts.shownBytes,
    truncated,
    erasedAt: stored.erasedAt?.toISOString() ?? null,
    restrictedAt: stored.restrictedAt?.toISOString() ?? null,
    text: decoded?.text ?? null,
    isText: decoded?.isText ?? true,
    hex: decoded?.hex ?? null,
  };
}

/** One byte more than is shown, so that a cut is known. */
async function readPayload(client: PoolClient, owner: Owner): Promise<Stored> {
  const { rows } = await client.query<{
    body: Buffer | null;
    content_type: string;
    size_bytes: number;
    erased_at: Date | null;
    restricted_at: Date | null;
  }>(
    `SELECT substring(p.body FROM 1 FOR $2) AS body, p.content_type, p.size_bytes, p.erased_at, r.restricted_at
       FROM sluice.payload p LEFT JOIN sluice.payload_restricted r ON r.payload_id = p.id WHERE p.id = $1`,
    [owner.payload_id, MAX_SHOWN_BYTES + 1],
  );
  const payload = rows[0];
  if (payload === undefined) throw new SluiceError("not_found", "The payload is stored no longer.");
  return {
    body: payload.body,
    contentType: payload.content_type,
    sizeBytes: payload.size_bytes,
    cut: false,
    erasedAt: payload.restricted_at === null ? payload.erased_at : null,
    restrictedAt: payload.restricted_at,
    attempt: null,
  };
}

async function readResponse(
  client: PoolClient,
  id: string,
  owner: Owner,
  attempt: number | undefined,
): Promise<Stored> {
  const { rows } = await client.query<{
    number: number;
    body: Buffer;
    content_type: string | null;
    bytes: number | null;
    truncated: boolean | null;
  }>(RESPONSE, [id, owner.created_at, attempt ?? null]);
  const found = rows[0];
  if (found === undefined) {
    const which = attempt === undefined ? "No attempt" : `Attempt ${attempt}`;
    throw new SluiceError("not_found", `${which} has no stored response body.`);
  }
  return {
    body: found.body,
    contentType: found.content_type,
    sizeBytes: found.bytes ?? found.body.length,
    cut: found.truncated ?? false,
    erasedAt: null,
    restrictedAt: null,
    attempt: found.number,
  };
}

/** The day before its acceptance is left for clocks that differ; it bounds the partitions that are looked into. */
const RESPONSE = `
  SELECT a.number, a.response_body AS body, a.response_content_type AS content_type, a.response_bytes AS bytes,
         a.response_truncated AS truncated
    FROM sluice.attempt a
   WHERE a.delivery_id = $1 AND a.started_at >= $2::timestamptz - interval '1 day' AND a.response_body IS NOT NULL
     AND ($3::integer IS NULL OR a.number = $3)
   ORDER BY a.decision = 'ignored', a.number DESC, a.started_at DESC LIMIT 1`;

const AUDIT = `
  INSERT INTO sluice.operator_action
    (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, after, result, correlation_id)
  SELECT gen_random_uuid(), rc.region, $1, $2, 'delivery.reveal', 'delivery', $3, $4, $5, $6, 'done', $7
    FROM sluice.region_control rc
  RETURNING id, at`;

async function assertRegion(client: PoolClient, region: Region): Promise<void> {
  const { rows } = await client.query<{ region: string }>("SELECT region FROM sluice.region_control");
  const actual = rows[0]?.region ?? null;
  if (actual === region) return;
  throw new SluiceError("region_mismatch", `the database belongs to region ${actual ?? "none"}`, {
    expected: region,
    actual,
  });
}
