/**
 * Accounts as administrators make, disable and enable them in the console. Whoever does it must administer all that the
 * person may, and nobody does it to themselves: one administrator always stays. A password comes in as its hash and is
 * never seen here. Audited in the transaction of the change.
 */
import type { Pool, PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { reachOf, refusedReach } from "#domain/grant-reach.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, contains, type Grant, regionsOf, scopeOf } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type AuditedChange, auditAccess, transact } from "./audit.ts";
import { insertAccount } from "./grants.ts";
import { MAX_GRANTS_PER_PERSON, type PersonWay, readEndingGrants } from "./people.ts";

export interface NewPerson {
  email: string;
  name: string;
  way: PersonWay;
  /** scrypt hash for the way `local`, else null. */
  passwordHash: string | null;
}

/**
 * Makes a person without any grant: they see nothing until somebody gives them one.
 * @param giver address of the administrator
 * @returns `usr_...`
 * @throws SluiceError `forbidden` for who administers no whole region, `account_exists`
 */
export async function addPerson(
  pool: Pool,
  giver: string,
  { way, ...account }: NewPerson,
  by: AuditedChange,
): Promise<{ id: string }> {
  return transact(pool, async (client) => {
    // Read in this transaction: a grant that was taken a moment ago makes nobody any more.
    const scope = scopeOf(await readEndingGrants(client, giver), "access");
    if (!hasWholeRegion(scope)) {
      throw new SluiceError("forbidden", "Only an administrator of a whole region adds people.");
    }
    const id = toPublicId("usr", await insertAccount(client, account));
    const after = { email: account.email.trim().toLowerCase(), way };
    await auditAccess(client, by, { action: "account.create", kind: "user", id, after });
    return { id };
  });
}

/**
 * Disables a person: their sessions end at once, no sign-in and no request of theirs is served. Their grants stay, and
 * count again when they are enabled.
 * @throws SluiceError `not_found`, `forbidden` for oneself and for who may more than the giver administers,
 *   `state_conflict`
 */
export async function disablePerson(
  pool: Pool,
  giver: string,
  personId: string,
  by: AuditedChange,
): Promise<{ id: string }> {
  return transact(pool, async (client) => {
    const person = await lockForChange(client, giver, personId);
    if (person.disabled) throw new SluiceError("state_conflict", "This person is disabled already.");
    await client.query("UPDATE sluice.console_user SET disabled_at = clock_timestamp() WHERE id = $1", [
      person.id,
    ]);
    const ended = await client.query("DELETE FROM sluice.console_session WHERE user_id = $1", [person.id]);
    const after = { sessionsEnded: ended.rowCount ?? 0 };
    await auditAccess(client, by, { action: "account.disable", kind: "user", id: personId, after });
    return { id: personId };
  });
}

/**
 * Enables a person again, with the grants that they still have: so the giver must be able to give each of them.
 * @throws SluiceError as `disablePerson`
 */
export async function enablePerson(
  pool: Pool,
  giver: string,
  personId: string,
  by: AuditedChange,
): Promise<{ id: string }> {
  return transact(pool, async (client) => {
    const person = await lockForChange(client, giver, personId);
    if (!person.disabled) throw new SluiceError("state_conflict", "This person is not disabled.");
    for (const grant of person.grants) {
      const refused = refusedReach(person.giver, grant);
      if (refused !== null) throw new SluiceError("forbidden", refused);
    }
    await client.query("UPDATE sluice.console_user SET disabled_at = NULL WHERE id = $1", [person.id]);
    const after = { grants: person.grants.length };
    await auditAccess(client, by, { action: "account.enable", kind: "user", id: personId, after });
    return { id: personId };
  });
}

interface LockedPerson {
  id: string;
  disabled: boolean;
  /** Living, whether the account is disabled or not. */
  grants: Pick<Grant, "regions" | "tenantIds" | "canReveal">[];
  /** What the giver has at this moment. */
  giver: Grant[];
}

/** Both rows are locked in one order: of two administrators who disable each other, the second is refused. */
async function lockForChange(client: PoolClient, giver: string, personId: string): Promise<LockedPerson> {
  const { rows } = await client.query<{ id: string; email: string; disabled: boolean }>(
    `SELECT id, email, disabled_at IS NOT NULL AS disabled FROM sluice.console_user
      WHERE id = $1 OR email = $2 ORDER BY id FOR UPDATE`,
    [fromPublicId("usr", personId), giver],
  );
  const person = rows.find(({ id }) => toPublicId("usr", id) === personId);
  const own = await readEndingGrants(client, giver);
  const scope = scopeOf(own, "access");
  if (regionsOf(scope).length === 0) {
    throw new SluiceError("forbidden", "You administer no access any more.");
  }
  if (person === undefined) throw notFound();
  const grants = await readLivingGrants(client, person.id);
  const inScope = grants.filter((grant) => contains(scope, reachOf(grant)));
  // As in the list: who has grants only outside does not exist, who has none is for administrators of a whole region.
  if (grants.length === 0 ? !hasWholeRegion(scope) : inScope.length === 0) throw notFound();
  if (person.email === giver) {
    throw new SluiceError(
      "forbidden",
      "Another administrator must do this to you, so that one always stays.",
    );
  }
  if (inScope.length < grants.length) {
    throw new SluiceError("forbidden", "This person may do more than you administer.");
  }
  return { id: person.id, disabled: person.disabled, grants, giver: own };
}

async function readLivingGrants(client: PoolClient, userId: string): Promise<LockedPerson["grants"]> {
  const { rows } = await client.query<{
    regions: Region[];
    tenant_ids: string[] | null;
    can_reveal: boolean;
  }>(
    `SELECT regions, tenant_ids, can_reveal FROM sluice.console_grant
      WHERE user_id = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) LIMIT $2`,
    [userId, MAX_GRANTS_PER_PERSON],
  );
  return rows.map(({ regions, tenant_ids: tenantIds, can_reveal: canReveal }) => ({
    regions,
    tenantIds,
    canReveal,
  }));
}

function hasWholeRegion(scope: AccessScope): boolean {
  return regionsOf(scope).some((region) => scope[region] === null);
}

function notFound(): SluiceError {
  return new SluiceError("not_found", "There is no such person in your scope.");
}
