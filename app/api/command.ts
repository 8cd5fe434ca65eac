/**
 * The edge of every control: who asks, may they do this to this row, which version did they see, is it a repeat; then one
 * function of db/console/commands. The row's tenant is looked up before permission is asked, and what lies outside the
 * scope is 404 in every case. It must never do a change itself, and never answer before the command has.
 */
import "server-only";
import { randomBytes } from "node:crypto";
import { auditDenied } from "#db/console/access/audit.ts";
import { type DrainStatus, drainStatus } from "#db/console/commands/drain-status.ts";
import { findTarget, type RowKind, readLastChange } from "#db/console/commands/find-target.ts";
import {
  type CommandAnswer,
  type CommandContext,
  type CommandSubject,
  recordDenied,
} from "#db/console/commands/run-command.ts";
import { consoleDatabase } from "#db/console/console-database.ts";
import { explainOutage } from "#db/console/read-region.ts";
import { regionPool } from "#db/regions.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { uuidV7 } from "#domain/ids.ts";
import { type Action, highestRole, type Permit, requirePermit, scopeOf } from "#domain/permissions.ts";
import { isRegion, type Region } from "#domain/region.ts";
import { type Principal, readPrincipal } from "../access/principal.ts";
import { admit, type Caller, guarded, invalid, json, parseQuery } from "./answer.ts";
import { readJson } from "./change.ts";
import { readKey, readPolicyVersion, readVersion, requestHash } from "./command-headers.ts";
import { commandQuery, regionCommandQuery } from "./command-schemas.ts";

const RETRY_AFTER_MS = 2_000;
const MAX_REASON_CHARS = 500;

/** What a command gives back; a new secret stands beside the answer. */
export type CommandResult = CommandAnswer & {
  readonly secret?: string | null;
  readonly previousUntil?: string | null;
};

export interface CommandRoute {
  /** What must be permitted on the row. */
  readonly action: Action;
  readonly kind: RowKind | "region";
  /** How the audit names what was tried, when it is denied: `tenant.pause`. */
  readonly audit: string;
  /** Its name in the audit when it is not the kind. */
  readonly auditKind?: "dead_letter";
  /** The command's field for the row's id; null when the region is the row. */
  readonly idField: "tenantId" | "destinationId" | "deliveryId" | "payloadId" | "groupId" | "batchId" | null;
  /** Whether the row has a version, which If-Match must name. */
  readonly versioned: boolean;
  /** Of a policy: version 0 is what is built in, and others' changes of the same row are other policies. */
  readonly fromBuiltIn?: true;
  /** Does it. `input` is the body with id and version. */
  readonly run: (context: CommandContext, input: never) => Promise<CommandResult>;
}

interface Aim {
  readonly region: Region;
  /** Public id, or the region's name. */
  readonly id: string;
}

/** Answers POST /api/v1/{resource}/{id}/{verb}?region=. */
export function command(
  request: Request,
  { params }: { readonly params: Promise<{ readonly id: string }> },
  route: CommandRoute,
): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const { id } = await params;
    const caller = await admitted(request, route, id, correlationId);
    const aim = readAim(request, route, id);
    const { allowed, context } = await permit(caller, route, aim);
    const version = route.versioned ? versionOf(request, route) : undefined;
    const key = readKey(request);
    const body = await readBody(request, route);
    if (allowed.typed) takeTyped(body, aim.region);
    const input = {
      ...body,
      ...(route.idField === null ? {} : { [route.idField]: aim.id }),
      ...(version === undefined ? {} : { version }),
    };
    const idempotency =
      key === null ? {} : { idempotency: { key, requestSha256: requestHash(request, version, body) } };
    const limitRules = { ...(allowed.only === undefined ? {} : { only: allowed.only }), steps: true };
    const result = await orOutage(UNKNOWN_END, () =>
      orExplained(aim, route, () => route.run({ ...context, ...idempotency, limitRules }, input as never)),
    );
    return respond(result, correlationId);
  });
}

function versionOf(request: Request, { fromBuiltIn }: CommandRoute): number {
  return fromBuiltIn ? readPolicyVersion(request) : readVersion(request);
}

function respond({ replayed, ...result }: CommandResult, correlationId: string): Response {
  const response = json(result, 200, "application/json", correlationId);
  if (result.version !== null) response.headers.set("etag", `"${result.version}"`);
  if (replayed) response.headers.set("idempotency-replayed", "true");
  return response;
}

/** As `admit`; a refusal by role is written down for the target that was meant. */
async function admitted(
  request: Request,
  route: CommandRoute,
  id: string,
  correlationId: string,
): Promise<Caller> {
  try {
    return await admit(request, route.action, correlationId);
  } catch (error) {
    if (isSluiceError(error, "forbidden")) await noteRefused(request, route, id, correlationId, error);
    throw error;
  }
}

/** @throws SluiceError `invalid_query`, `not_found` for a region that does not exist */
function readAim(request: Request, route: CommandRoute, id: string): Aim {
  if (route.kind !== "region") return { region: parseQuery(commandQuery, request).region, id };
  return { region: readRegionName(request, id), id };
}

/**
 * A region as the path names it; a second name in the query must be the same.
 * @throws SluiceError `invalid_query`, `not_found`
 */
export function readRegionName(request: Request, id: string): Region {
  const { region } = parseQuery(regionCommandQuery, request);
  if (!isRegion(id) || (region !== undefined && region !== id)) throw outside();
  return id;
}

/** Counts a region's leases behind a barrier, for who may stop its claims. @throws SluiceError `not_found`, `forbidden` */
export async function readDrain({ principal }: Caller, region: Region): Promise<DrainStatus> {
  requirePermit(principal.grants, "region_claims", { region, tenantId: null });
  return orOutage("It is not known whether it is drained.", () =>
    drainStatus({ region, pool: regionPool(region) }),
  );
}

/** @throws SluiceError `not_found` for what is outside of the scope or not there; `forbidden`, recorded */
async function permit(
  caller: Caller,
  route: CommandRoute,
  { region, id }: Aim,
): Promise<{ allowed: Permit; context: CommandContext }> {
  const { grants, actor } = caller.principal;
  // A region outside is never asked.
  if (caller.scope[region] === undefined && scopeOf(grants, "read")[region] === undefined) throw outside();
  const tenantId = await tenantOf(route, region, id);
  const context: CommandContext = {
    region,
    pool: regionPool(region),
    actor,
    role: highestRole(grants),
    correlationId: caller.correlationId,
    newId: () => uuidV7(Date.now(), randomBytes),
    tenantId,
  };
  try {
    const allowed = requirePermit(grants, route.action, { region, tenantId });
    return { allowed, context: { ...context, role: allowed.role } };
  } catch (error) {
    if (isSluiceError(error, "forbidden")) await recordDenied(context, subjectOf(route, id, error), error);
    throw error;
  }
}

async function tenantOf(route: CommandRoute, region: Region, id: string): Promise<string | null> {
  const { kind } = route;
  if (kind === "region") return null;
  const found = await orOutage("Nothing was changed.", () => findTarget(regionPool(region), kind, id));
  if (found === null) throw outside();
  return found.tenantId;
}

function outside(): SluiceError {
  return new SluiceError("not_found", "There is no such row in your scope.");
}

/** The reason of a denied attempt is the refusal: nothing of what was sent is trusted. */
function subjectOf(route: CommandRoute, id: string, error: SluiceError): CommandSubject {
  return {
    action: route.audit,
    targetKind: route.auditKind ?? route.kind,
    targetId: id,
    reason: error.detail.slice(0, MAX_REASON_CHARS),
  };
}

/** A body is an object; id and version have their own places, and a second one in the body could only differ. */
async function readBody(request: Request, { idField }: CommandRoute): Promise<Record<string, unknown>> {
  const body = await readJson(request);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("invalid_body", [{ pointer: "", detail: "must be an object" }]);
  }
  const misplaced = ["version", idField].filter((name) => name !== null && Object.hasOwn(body, name));
  if (misplaced.length > 0) {
    throw invalid(
      "invalid_body",
      misplaced.map((name) => ({ pointer: String(name), detail: "is not a field of this resource" })),
    );
  }
  return { ...body };
}

/** @throws SluiceError `invalid_body` unless the region's name was typed */
function takeTyped(body: Record<string, unknown>, region: Region): void {
  const { typed } = body;
  delete body.typed;
  if (typeof typed === "string" && typed.trim().toLowerCase() === region) return;
  throw invalid("invalid_body", [{ pointer: "typed", detail: `must be the region's name, ${region}` }]);
}

const UNKNOWN_END =
  "Whether the change was made is not known: look, or send it again with the same Idempotency-Key.";

/** Turns an outage of the region into 503. `meaning` says what that is for the change. */
async function orOutage<T>(meaning: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const outage = isSluiceError(error) ? null : explainOutage(error);
    if (outage === null) throw error;
    const data = { retryAfterMs: RETRY_AFTER_MS };
    throw new SluiceError("region_unavailable", `${outage} ${meaning}`, data, { cause: error });
  }
}

/** Says to whose version is old who was faster, and what they did. */
async function orExplained<T>({ region, id }: Aim, route: CommandRoute, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isSluiceError(error, "version_conflict")) throw error;
    const { seen, current: version } = error.data ?? {};
    const kind = route.auditKind ?? route.kind;
    const action = route.fromBuiltIn ? route.audit : null;
    const change = await readLastChange(regionPool(region), kind, id, action).catch(() => null);
    throw new SluiceError("version_conflict", error.detail, {
      seen,
      current: change === null ? null : { version, ...change },
    });
  }
}

/**
 * Refused before the row was looked up: in the region's audit when the caller may see that region, else in the console's
 * own. It says what was tried, not whether there is such a row.
 */
async function noteRefused(
  request: Request,
  route: CommandRoute,
  id: string,
  correlationId: string,
  error: SluiceError,
): Promise<void> {
  const principal = await readPrincipal(request.headers).catch(() => null);
  if (principal === null) return;
  const named = route.kind === "region" ? id : (new URL(request.url).searchParams.get("region") ?? "");
  const region = isRegion(named) && scopeOf(principal.grants, "read")[named] !== undefined ? named : null;
  if (region === null) return noteElsewhere(request, route.action, principal, correlationId, error);
  const context: CommandContext = {
    region,
    pool: regionPool(region),
    actor: principal.actor,
    role: highestRole(principal.grants),
    correlationId,
    newId: () => uuidV7(Date.now(), randomBytes),
  };
  await recordDenied(context, { ...subjectOf(route, id.slice(0, 200), error) }, error);
}

async function noteElsewhere(
  request: Request,
  action: Action,
  principal: Principal,
  correlationId: string,
  error: SluiceError,
): Promise<void> {
  const by = {
    actor: principal.actor,
    role: highestRole(principal.grants),
    reason: error.detail.slice(0, MAX_REASON_CHARS),
    correlationId,
  };
  const id = `${request.method} ${new URL(request.url).pathname}`.slice(0, 200);
  await auditDenied(consoleDatabase().pool, by, { action, kind: "request", id }).catch(() => undefined);
}
