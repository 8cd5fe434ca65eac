/**
 * Service tokens as administrators handle them. Nobody makes a token that reaches further than they do themselves, and a
 * token makes no tokens: what it may do would else grow out of it.
 */
import "server-only";
import { randomBytes } from "node:crypto";
import {
  createServiceToken,
  listServiceTokens,
  revokeServiceToken,
  type TokenEntry,
} from "#db/console/access/service-tokens.ts";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { contains, highestRole, regionsOf, type TenantScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { Caller } from "../api/answer.ts";
import type { TokenBody } from "../api/token-schemas.ts";

/** The tokens of the regions that the caller administers as a whole. */
export async function readTokens({ scope }: Caller): Promise<{ tokens: TokenEntry[] }> {
  return { tokens: await withAccounts(() => listServiceTokens(consoleDatabase().pool, wholeRegions(scope))) };
}

/** @throws SluiceError `forbidden` for a scope that is not the caller's own, `token_exists` */
export async function addToken(
  caller: Caller,
  { reason, tenants, ...body }: TokenBody,
): Promise<{ id: string; token: string; expiresAt: string }> {
  if (caller.principal.kind === "token")
    throw new SluiceError("forbidden", "A service token makes no tokens.");
  const tenantIds: TenantScope = tenants?.map((id) => fromPublicId("ten", id)) ?? null;
  const wanted = Object.fromEntries(body.regions.map((region) => [region, tenantIds]));
  if (!contains(caller.scope, wanted)) {
    throw new SluiceError("forbidden", "The token would reach further than your own grant.");
  }
  return withAccounts(() =>
    createServiceToken(consoleDatabase().pool, { ...body, tenantIds }, changeOf(caller, reason), randomBytes),
  );
}

/** @throws SluiceError `not_found` */
export async function endToken(caller: Caller, id: string, reason: string): Promise<{ id: string }> {
  if (!/^tok_[0-9a-f]{32}$/.test(id))
    throw new SluiceError("bad_id", "A token's id is tok_ and 32 hex digits.");
  const regions = wholeRegions(caller.scope);
  return withAccounts(async () => ({
    id: await revokeServiceToken(consoleDatabase().pool, id, regions, changeOf(caller, reason)),
  }));
}

function changeOf({ principal, correlationId }: Caller, reason: string) {
  return { actor: principal.actor, role: highestRole(principal.grants), reason, correlationId };
}

function wholeRegions(scope: Caller["scope"]): Region[] {
  return regionsOf(scope).filter((region) => scope[region] === null);
}
