/**
 * Accounts and their grants: who somebody is and what they may. A grant that has ended, or of an account that was
 * disabled, gives nothing. Every change is audited in its own transaction.
 */
import type { Pool, PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import type { Grant, Role, TenantScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type AuditedChange, auditAccess, transact } from "./audit.ts";

/** Grants of one person that are looked at. */
const MAX_GRANTS = 50;
const MAX_USERS_LISTED = 500;
const UNIQUE_VIOLATION = "23505";

/** An account as it is shown. */
export interface Account {
  /** `usr_...` */
  id: string;
  email: string;
  name: string;
  disabled: boolean;
}

export interface AccountWithGrants extends Account {
  grants: Grant[];
}

export interface NewAccount {
  email: string;
  name: string;
  /** scrypt hash; null: the account signs in with the identity provider only. */
  passwordHash: string | null;
}

export interface NewGrant {
  role: Role;
  regions: readonly Region[];
  tenantIds: TenantScope;
  canReveal: boolean;
}

interface GrantRow {
  role: Role;
  regions: Region[];
  tenant_ids: string[] | null;
  can_reveal: boolean;
}

/** The grants that hold now of an account that is not disabled; null when there is no such account. */
export async function readGrants(pool: Pool, userId: string): Promise<Grant[] | null> {
  const { rows } = await pool.query<{ [Key in keyof GrantRow]: GrantRow[Key] | null }>(
    `SELECT g.role, g.regions, g.tenant_ids, g.can_reveal
       FROM sluice.console_user u
       LEFT JOIN sluice.console_grant g ON g.user_id = u.id AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())
      WHERE u.id = $1 AND u.disabled_at IS NULL ORDER BY g.created_at LIMIT $2`,
    [userId, MAX_GRANTS],
  );
  if (rows.length === 0) return null;
  return rows.filter((row): row is GrantRow => row.role !== null).map(toGrant);
}

/** Makes an account. @returns its UUID. @throws SluiceError `account_exists` */
export async function createAccount(pool: Pool, account: NewAccount, by: AuditedChange): Promise<string> {
  return transact(pool, async (client) => {
    const id = await insertAccount(client, account);
    await auditAccess(client, by, { action: "account.create", kind: "user", id: toPublicId("usr", id) });
    return id;
  });
}

/**
 * The rows of a new account, in a transaction that the caller has begun and in which they audit it.
 * @returns its UUID. @throws SluiceError `account_exists`, after which the transaction is over
 */
export async function insertAccount(client: Pick<PoolClient, "query">, account: NewAccount): Promise<string> {
  const email = normalEmail(account.email);
  try {
    // Whoever makes the account vouches for the address, so that the identity provider's account of it can be joined.
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO sluice.console_user (id, name, email, email_verified)
       VALUES (gen_random_uuid(), $1, $2, true) RETURNING id`,
      [account.name, email],
    );
    const id = rows[0]?.id ?? "";
    if (account.passwordHash !== null) {
      await client.query(
        `INSERT INTO sluice.console_account (id, user_id, provider_id, account_id, password)
         VALUES (gen_random_uuid(), $1::uuid, 'credential', $1::uuid::text, $2)`,
        [id, account.passwordHash],
      );
    }
    return id;
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw new SluiceError("account_exists", `There is already an account for ${email}.`);
  }
}

/** Adds a grant to an account. @throws SluiceError `not_found` */
export async function addGrant(pool: Pool, email: string, grant: NewGrant, by: AuditedChange): Promise<void> {
  await transact(pool, async (client) => {
    const id = await lockAccount(client, email);
    await client.query(
      `INSERT INTO sluice.console_grant (id, user_id, role, regions, tenant_ids, can_reveal, granted_by)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6)`,
      [id, grant.role, grant.regions, grant.tenantIds, grant.canReveal, by.actor],
    );
    const after = { ...grant, regions: grant.regions.join(), tenantIds: grant.tenantIds?.length ?? "all" };
    await auditAccess(client, by, { action: "grant.add", kind: "user", id: toPublicId("usr", id), after });
  });
}

/**
 * Takes all grants of an account away and ends its sessions; with `disable` the account can no longer sign in either.
 * @throws SluiceError `not_found`
 */
export async function revokeGrants(
  pool: Pool,
  email: string,
  { disable }: { disable: boolean },
  by: AuditedChange,
): Promise<number> {
  return transact(pool, async (client) => {
    const id = await lockAccount(client, email);
    const gone = await client.query("DELETE FROM sluice.console_grant WHERE user_id = $1", [id]);
    await client.query("DELETE FROM sluice.console_session WHERE user_id = $1", [id]);
    await client.query(
      "UPDATE sluice.console_user SET disabled_at = CASE WHEN $2 THEN clock_timestamp() ELSE disabled_at END WHERE id = $1",
      [id, disable],
    );
    const action = disable ? "account.disable" : "grant.revoke";
    await auditAccess(client, by, { action, kind: "user", id: toPublicId("usr", id) });
    return gone.rowCount ?? 0;
  });
}

/** Accounts with their grants, by address, at most 500. */
export async function listAccounts(pool: Pool): Promise<AccountWithGrants[]> {
  const { rows } = await pool.query<{
    id: string;
    email: string;
    name: string;
    disabled: boolean;
    grants: GrantRow[];
  }>(
    `SELECT u.id, u.email, u.name, u.disabled_at IS NOT NULL AS disabled,
            coalesce((SELECT json_agg(json_build_object('role', g.role, 'regions', g.regions, 'tenant_ids', g.tenant_ids,
                                                        'can_reveal', g.can_reveal) ORDER BY g.created_at)
                        FROM sluice.console_grant g
                       WHERE g.user_id = u.id AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())), '[]') AS grants
       FROM sluice.console_user u ORDER BY u.email LIMIT $1`,
    [MAX_USERS_LISTED],
  );
  return rows.map(({ id, grants, ...rest }) => ({
    ...rest,
    id: toPublicId("usr", id),
    grants: grants.map(toGrant),
  }));
}

/** True when nobody has an account yet. */
export async function hasNoAccounts(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ none: boolean }>(
    "SELECT NOT EXISTS (SELECT 1 FROM sluice.console_user) AS none",
  );
  return rows[0]?.none ?? false;
}

/**
 * The ids of tenants by slug or `ten_...`, from one region's database.
 * @returns those that exist there
 */
export async function findTenantIds(
  pool: Pick<Pool, "query">,
  names: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; slug: string }>(
    "SELECT id, slug FROM sluice.tenant WHERE slug = ANY ($1::text[]) OR id = ANY ($2::uuid[]) LIMIT $3",
    [
      names.filter((name) => !name.startsWith("ten_")),
      names.filter((name) => name.startsWith("ten_")).map((name) => fromPublicId("ten", name)),
      names.length,
    ],
  );
  return new Map(rows.flatMap(({ id, slug }) => [[slug, id] as const, [toPublicId("ten", id), id] as const]));
}

async function lockAccount(client: Pick<Pool, "query">, email: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM sluice.console_user WHERE email = $1 FOR UPDATE",
    [normalEmail(email)],
  );
  if (rows[0] === undefined)
    throw new SluiceError("not_found", `There is no account for ${normalEmail(email)}.`);
  return rows[0].id;
}

function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

function toGrant(row: GrantRow): Grant {
  return {
    role: row.role,
    regions: row.regions,
    tenantIds: row.tenant_ids,
    canReveal: row.can_reveal,
    actions: null,
  };
}
