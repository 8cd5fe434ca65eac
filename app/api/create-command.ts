/**
 * The edge of every creation: what command.ts does for a row that exists, for one that does not yet. Permission is asked
 * of the region, or of the tenant that the new row is to belong to; a tenant outside of the scope is 404. It must never
 * create by itself, and never answer before the command has.
 */
import "server-only";
import { randomBytes } from "node:crypto";
import { z } from "zod";
import {
  type CommandAnswer,
  type CommandContext,
  type CommandSubject,
  recordDenied,
} from "#db/console/commands/run-command.ts";
import { explainOutage } from "#db/console/read-region.ts";
import { regionPool } from "#db/regions.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { fromPublicId, uuidV7 } from "#domain/ids.ts";
import { type Action, highestRole, requirePermit, scopeOf } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { admit, type Caller, guarded, invalid, json, parseQuery } from "./answer.ts";
import { readJson } from "./change.ts";
import { readKey, requestHash } from "./command-headers.ts";
import { commandQuery } from "./command-schemas.ts";

const CREATED = 201;
const RETRY_AFTER_MS = 2_000;
const MAX_REASON_CHARS = 500;

/** What a creation gives back: the new row's id, and a secret that is shown once where there is one. */
export type Created = CommandAnswer & { readonly id: string } & Readonly<Record<string, unknown>>;

export interface CreateRoute {
  readonly action: Action;
  /** How the audit names what was tried, when it is denied: `tenant.create`. */
  readonly audit: string;
  readonly kind: "tenant" | "destination";
  /** `/api/v1/tenants`: where the new row is found. */
  readonly path: string;
  /** Whether the body names the tenant that the new row is to belong to. */
  readonly inTenant: boolean;
  /** Does it. `input` is the body. */
  readonly run: (context: CommandContext, input: never) => Promise<Created>;
}

const owner = z.looseObject({
  tenantId: z.string().regex(/^ten_[0-9a-f]{32}$/, { error: "must be a ten_ id" }),
});

/** Answers POST /api/v1/{resource}?region= with 201 and the new row's address. */
export function create(request: Request, route: CreateRoute): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const { region } = parseQuery(commandQuery, request);
    const caller = await admitted(request, route, region, correlationId);
    const key = readKey(request);
    const body = await readBody(request);
    const tenantId = route.inTenant ? tenantOf(body) : null;
    const context = await permit(caller, route, region, tenantId);
    const idempotency =
      key === null ? {} : { idempotency: { key, requestSha256: requestHash(request, undefined, body) } };
    const { replayed, ...created } = await inRegion(() =>
      route.run({ ...context, ...idempotency }, body as never),
    );
    const response = json(created, CREATED, "application/json", correlationId);
    response.headers.set("location", `${route.path}/${created.id}?region=${region}`);
    if (created.version !== null) response.headers.set("etag", `"${created.version}"`);
    if (replayed) response.headers.set("idempotency-replayed", "true");
    return response;
  });
}

/** As `admit`; a refusal by role is written down where the region may be read. */
async function admitted(
  request: Request,
  route: CreateRoute,
  region: Region,
  correlationId: string,
): Promise<Caller> {
  try {
    return await admit(request, route.action, correlationId);
  } catch (error) {
    if (isSluiceError(error, "forbidden")) {
      const reader = await admit(request, "read", correlationId).catch(() => null);
      if (reader?.scope[region] !== undefined) await denied(contextOf(reader, region, null), route, error);
    }
    throw error;
  }
}

/** @throws SluiceError `not_found` for what is outside of the scope; `forbidden`, recorded */
async function permit(
  caller: Caller,
  route: CreateRoute,
  region: Region,
  tenantId: string | null,
): Promise<CommandContext> {
  const { grants } = caller.principal;
  // A region outside is never asked.
  if (caller.scope[region] === undefined && scopeOf(grants, "read")[region] === undefined) {
    throw new SluiceError("not_found", "There is no such region in your scope.");
  }
  const context = contextOf(caller, region, tenantId);
  try {
    const { role } = requirePermit(grants, route.action, { region, tenantId });
    return { ...context, role };
  } catch (error) {
    if (isSluiceError(error, "forbidden")) await denied(context, route, error);
    throw error;
  }
}

function contextOf(
  { principal, correlationId }: Caller,
  region: Region,
  tenantId: string | null,
): CommandContext {
  return {
    region,
    pool: regionPool(region),
    actor: principal.actor,
    role: highestRole(principal.grants),
    correlationId,
    newId: () => uuidV7(Date.now(), randomBytes),
    tenantId,
  };
}

/** There is no row to name: the audit says what was tried, in which region. */
async function denied(context: CommandContext, route: CreateRoute, error: SluiceError): Promise<void> {
  const subject: CommandSubject = {
    action: route.audit,
    targetKind: route.kind,
    targetId: context.region,
    reason: error.detail.slice(0, MAX_REASON_CHARS),
  };
  await recordDenied(context, subject, error);
}

async function readBody(request: Request): Promise<Record<string, unknown>> {
  const body = await readJson(request);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("invalid_body", [{ pointer: "", detail: "must be an object" }]);
  }
  return { ...body };
}

/** The tenant's UUID. @throws SluiceError `invalid_body` */
function tenantOf(body: Record<string, unknown>): string {
  const parsed = owner.safeParse(body);
  if (parsed.success) return fromPublicId("ten", parsed.data.tenantId);
  throw invalid("invalid_body", [{ pointer: "tenantId", detail: "must be a ten_ id" }]);
}

/** Turns an outage of the region into 503. */
async function inRegion<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const outage = isSluiceError(error) ? null : explainOutage(error);
    if (outage === null) throw error;
    throw new SluiceError(
      "region_unavailable",
      `${outage} Whether it was created is not known: look, or send it again with the same Idempotency-Key.`,
      { retryAfterMs: RETRY_AFTER_MS },
      { cause: error },
    );
  }
}
