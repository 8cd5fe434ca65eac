/**
 * Tokens for programs. Only a hash is stored: what is shown once cannot be shown again. A token that has ended or was
 * revoked is nobody, and no answer tells which of the two.
 */
import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type Action, type Grant, isAction, type Role, type TenantScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type AuditedChange, auditAccess, transact } from "./audit.ts";

/** Every token begins with it, so that a scanner of leaked secrets can find one. */
export const TOKEN_PREFIX = "sluice_";
const TOKEN_BYTES = 32;
const TOKEN_SHAPE = /^sluice_[A-Za-z0-9_-]{43}$/;
/** Ends later than this are refused. */
export const MAX_TOKEN_DAYS = 366;
const MAX_TOKENS_LISTED = 200;
/** `last_used_at` is written at most this often, so that reads stay reads. */
const LAST_USED_STEP_SECONDS = 60;
const UNIQUE_VIOLATION = "23505";

export interface NewToken {
  name: string;
  role: Role;
  scopes: readonly Action[];
  regions: readonly Region[];
  tenantIds: TenantScope;
  /** Days from now, 1 to 366. */
  days: number;
}

/** What is told of a token: never the token. */
export interface TokenEntry {
  /** `tok_...` */
  id: string;
  name: string;
  role: Role;
  scopes: Action[];
  regions: Region[];
  /** Number of tenants it is limited to; null for all. */
  tenants: number | null;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

/**
 * Makes a token.
 * @param randomBytes must return bytes that nobody can guess
 * @returns the token's text, which is not stored and cannot be had again
 * @throws SluiceError `token_exists` when a living token has the name
 */
export async function createServiceToken(
  pool: Pool,
  token: NewToken,
  by: AuditedChange,
  randomBytes: (count: number) => Buffer,
): Promise<{ id: string; token: string; expiresAt: string }> {
  const text = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    return await transact(pool, async (client) => {
      const { rows } = await client.query<{ id: string; expires_at: Date }>(
        `INSERT INTO sluice.console_service_token
           (id, name, token_sha256, role, scopes, regions, tenant_ids, created_by, expires_at)
         VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8 * interval '1 day')
         RETURNING id, expires_at`,
        [
          token.name,
          sha256(text),
          token.role,
          token.scopes,
          token.regions,
          token.tenantIds,
          by.actor,
          token.days,
        ],
      );
      const row = rows[0];
      if (row === undefined) throw new Error("the insert of a token returned no row");
      const id = toPublicId("tok", row.id);
      const after = { ...token, tenantIds: token.tenantIds?.length ?? "all" };
      await auditAccess(client, by, { action: "token.create", kind: "service_token", id, after });
      return { id, token: text, expiresAt: row.expires_at.toISOString() };
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw new SluiceError("token_exists", `A living token is already called "${token.name}".`);
  }
}

/** Who the token stands for; null when it is no living token. */
export async function readServiceToken(
  pool: Pool,
  text: string,
): Promise<{ name: string; grant: Grant } | null> {
  if (!TOKEN_SHAPE.test(text)) return null;
  const { rows } = await pool.query<{
    id: string;
    name: string;
    role: Role;
    scopes: string[];
    regions: Region[];
    tenant_ids: string[] | null;
    unused: boolean;
  }>(
    `SELECT id, name, role, scopes, regions, tenant_ids,
            last_used_at IS NULL OR last_used_at < clock_timestamp() - $2 * interval '1 second' AS unused
       FROM sluice.console_service_token
      WHERE token_sha256 = $1 AND revoked_at IS NULL AND expires_at > clock_timestamp()`,
    [sha256(text), LAST_USED_STEP_SECONDS],
  );
  const row = rows[0];
  if (row === undefined) return null;
  if (row.unused) {
    await pool.query(
      "UPDATE sluice.console_service_token SET last_used_at = clock_timestamp() WHERE id = $1",
      [row.id],
    );
  }
  return {
    name: row.name,
    grant: {
      role: row.role,
      regions: row.regions,
      tenantIds: row.tenant_ids,
      canReveal: false,
      actions: row.scopes.filter(isAction),
    },
  };
}

/**
 * Ends a token at once, by `tok_...` or by name, when it reaches no further than `regions`.
 * @throws SluiceError `not_found`
 */
export async function revokeServiceToken(
  pool: Pool,
  idOrName: string,
  regions: readonly Region[],
  by: AuditedChange,
): Promise<string> {
  const byId = /^tok_[0-9a-f]{32}$/.test(idOrName);
  return transact(pool, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `UPDATE sluice.console_service_token SET revoked_at = clock_timestamp(), revoked_by = $2
        WHERE revoked_at IS NULL AND regions <@ $3::text[] AND ${byId ? "id = $1::uuid" : "name = $1"} RETURNING id`,
      [byId ? fromPublicId("tok", idOrName) : idOrName, by.actor, regions],
    );
    if (rows[0] === undefined)
      throw new SluiceError("not_found", "There is no living token of this name or id.");
    const id = toPublicId("tok", rows[0].id);
    await auditAccess(client, by, { action: "token.revoke", kind: "service_token", id });
    return id;
  });
}

/** The newest tokens that reach no further than `regions`, at most 200. */
export async function listServiceTokens(pool: Pool, regions: readonly Region[]): Promise<TokenEntry[]> {
  const { rows } = await pool.query<{
    id: string;
    name: string;
    role: Role;
    scopes: string[];
    regions: Region[];
    tenants: number | null;
    created_by: string;
    created_at: Date;
    expires_at: Date;
    revoked_at: Date | null;
    last_used_at: Date | null;
  }>(
    `SELECT id, name, role, scopes, regions, cardinality(tenant_ids) AS tenants, created_by, created_at, expires_at, revoked_at,
            last_used_at FROM sluice.console_service_token WHERE regions <@ $2::text[] ORDER BY created_at DESC, id LIMIT $1`,
    [MAX_TOKENS_LISTED, regions],
  );
  return rows.map((row) => ({
    id: toPublicId("tok", row.id),
    name: row.name,
    role: row.role,
    scopes: row.scopes.filter(isAction),
    regions: row.regions,
    tenants: row.tenants,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  }));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
