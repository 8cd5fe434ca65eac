/**
 * The edge of a new replay batch and of its preview. There is no row yet, so the scope decides which entries exist for the
 * caller; what it does not cover is as if it were not there. It must never select on its own.
 */
import "server-only";
import { randomBytes } from "node:crypto";
import { explainOutage } from "#db/console/read-region.ts";
import { draftReplay } from "#db/console/replay/draft.ts";
import { previewReplay } from "#db/console/replay/preview.ts";
import { regionPool } from "#db/regions.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { uuidV7 } from "#domain/ids.ts";
import { covers, highestRole, tenantsIn } from "#domain/permissions.ts";
import { admit, answer, guarded, json, parseQuery } from "./answer.ts";
import { readJson } from "./change.ts";
import { readKey, requestHash } from "./command-headers.ts";
import { replayQuery } from "./replay-schemas.ts";

const CREATED = 201;
const RETRY_AFTER_MS = 2_000;
/** 5,000 ids of 36 characters with their quotes and commas, and the words. */
const MAX_SELECTION_BYTES = 256 * 1024;

/** Answers POST /api/v1/replays?region= with 201 and the new batch's address. */
export function draft(request: Request): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const { region } = parseQuery(replayQuery, request);
    const { principal, scope } = await admit(request, "replay_draft", correlationId);
    tenantsIn(scope, region);
    const key = readKey(request);
    const body = (await readJson(request, MAX_SELECTION_BYTES)) as never;
    const here = principal.grants.filter((grant) => grant.regions.includes(region));
    const context = {
      region,
      pool: regionPool(region),
      actor: principal.actor,
      role: highestRole(here),
      correlationId,
      newId: () => uuidV7(Date.now(), randomBytes),
      tenantId: covers(scope, { region, tenantId: null }) ? null : (scope[region]?.[0] ?? null),
      ...(key === null ? {} : { idempotency: { key, requestSha256: requestHash(request, undefined, body) } }),
    };
    const { replayed, ...created } = await orOutage(() => draftReplay(context, scope, body));
    const response = json(
      { id: created.after.batchId, ...created },
      CREATED,
      "application/json",
      correlationId,
    );
    response.headers.set("location", `/api/v1/replays/${created.after.batchId}?region=${region}`);
    response.headers.set("etag", `"${created.version}"`);
    if (replayed) response.headers.set("idempotency-replayed", "true");
    return response;
  });
}

/** Answers POST /api/v1/replays/preview?region=: what a selection means now. Writes nothing. */
export function preview(request: Request): Promise<Response> {
  return answer(request, "replay_draft", async ({ scope }) => {
    const { region } = parseQuery(replayQuery, request);
    return previewReplay(scope, region, await readJson(request, MAX_SELECTION_BYTES));
  });
}

async function orOutage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const outage = isSluiceError(error) ? null : explainOutage(error);
    if (outage === null) throw error;
    const detail = `${outage} Whether it was created is not known: look, or send it again with the same Idempotency-Key.`;
    throw new SluiceError("region_unavailable", detail, { retryAfterMs: RETRY_AFTER_MS }, { cause: error });
  }
}
