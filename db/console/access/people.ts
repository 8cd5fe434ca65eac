/**
 * People and their grants as administrators see and change them in the console. Nobody sees, gives or takes a grant that
 * reaches further than what they administer, and nobody takes their own: one administrator always stays. Audited in the
 * transaction of the change.
 */
import type { Pool, PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { type EndingGrant, latestEndMs, reachOf, refusedReach } from "#domain/grant-reach.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import {
  type AccessScope,
  contains,
  type Grant,
  type Role,
  regionsOf,
  type TenantScope,
} from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type AuditedChange, auditAccess, transact } from "./audit.ts";

const MAX_PEOPLE_LISTED = 500;
/** Living grants of one person. */
export const MAX_GRANTS_PER_PERSON = 50;
const DAY_MS = 24 * 60 * 60 * 1_000;

export interface PersonGrant {
  /** `grt_...` */
  id: string;
  role: Role;
  regions: Region[];
  /** Number of tenants it is limited to; null for all. */
  tenants: number | null;
  canReveal: boolean;
  grantedBy: string;
  createdAt: string;
  /** Null: no end. */
  expiresAt: string | null;
}

export interface Person {
  /** `usr_...` */
  id: string;
  email: string;
  name: string;
  disabled: boolean;
  grants: PersonGrant[];
}

export interface People {
  people: Person[];
  /** More people exist than are listed. */
  truncated: boolean;
}

/** How a new person signs in: with the identity provider, or with a password that is kept here. */
export const PERSON_WAYS = ["invite", "local"] as const;
export type PersonWay = (typeof PERSON_WAYS)[number];

export interface PeopleAnswer extends People {
  /** The ways in which the reader can add people in this installation. */
  ways: PersonWay[];
}

export interface NewPersonGrant {
  role: Role;
  regions: readonly Region[];
  tenantIds: TenantScope;
  canReveal: boolean;
  /** Days from now; null: no end of its own. */
  days: number | null;
}

/** Who gives or takes: their address, and where they administer access. */
export interface Giver {
  email: string;
  scope: AccessScope;
}

/**
 * People with those of their grants that lie within the scope. Who has grants only outside of it is not listed; who has
 * none at all is, for administrators of a whole region.
 */
export async function listPeople(pool: Pool, scope: AccessScope): Promise<People> {
  const { rows } = await pool.query<PersonRow>(PEOPLE, [MAX_PEOPLE_LISTED + 1]);
  const wholeRegion = regionsOf(scope).some((region) => scope[region] === null);
  const people = rows.slice(0, MAX_PEOPLE_LISTED).flatMap(({ id, grants, ...rest }) => {
    const visible = grants.filter((grant) =>
      contains(scope, reachOf({ ...grant, tenantIds: grant.tenant_ids })),
    );
    if (visible.length === 0 && !(grants.length === 0 && wholeRegion)) return [];
    return [{ ...rest, id: toPublicId("usr", id), grants: visible.map(toGrant) }];
  });
  return { people, truncated: rows.length > MAX_PEOPLE_LISTED };
}

/**
 * Gives a grant. Its end is never later than that of the giver's own.
 * @param nowMs only for the length of the grant
 * @throws SluiceError `not_found`, `forbidden` for what reaches further, `state_conflict` at the limit
 */
export async function givePersonGrant(
  pool: Pool,
  giver: Giver,
  personId: string,
  grant: NewPersonGrant,
  by: AuditedChange,
  nowMs: number,
): Promise<{ id: string; expiresAt: string | null }> {
  return transact(pool, async (client) => {
    const userId = await lockPerson(client, personId);
    // Read in this transaction: a grant that was taken a moment ago gives nothing any more.
    const own = await readEndingGrants(client, giver.email);
    const refused = refusedReach(own, grant);
    if (refused !== null) throw new SluiceError("forbidden", refused);
    const endsMs = endOf(latestEndMs(own, grant), grant.days === null ? null : nowMs + grant.days * DAY_MS);
    const { rows } = await client.query<{ id: string }>(ADD, [
      userId,
      grant.role,
      grant.regions,
      grant.tenantIds,
      grant.canReveal,
      by.actor,
      endsMs === null ? null : new Date(endsMs),
      MAX_GRANTS_PER_PERSON,
    ]);
    const made = rows[0];
    if (made === undefined) {
      throw new SluiceError(
        "state_conflict",
        `This person has ${MAX_GRANTS_PER_PERSON} grants, which is the limit.`,
      );
    }
    const id = toPublicId("grt", made.id);
    const expiresAt = endsMs === null ? null : new Date(endsMs).toISOString();
    const { days: _days, tenantIds, ...told } = grant;
    const after = {
      grant: id,
      ...told,
      regions: grant.regions.join(),
      tenantIds: tenantIds?.length ?? "all",
      expiresAt,
    };
    await auditAccess(client, by, { action: "grant.add", kind: "user", id: personId, after });
    return { id, expiresAt };
  });
}

/**
 * Takes one grant away; it ends with the person's next request.
 * @throws SluiceError `not_found` for one that does not exist or reaches further, `forbidden` for one's own
 */
export async function takePersonGrant(
  pool: Pool,
  giver: Giver,
  personId: string,
  grantId: string,
  by: AuditedChange,
): Promise<{ id: string }> {
  return transact(pool, async (client) => {
    const userId = await lockPerson(client, personId);
    const { rows } = await client.query<GrantRow & { own: boolean }>(
      `SELECT g.id, g.role, g.regions, g.tenant_ids, g.can_reveal, u.email = $3 AS own
         FROM sluice.console_grant g JOIN sluice.console_user u ON u.id = g.user_id
        WHERE g.id = $1 AND g.user_id = $2 FOR UPDATE OF g`,
      [fromPublicId("grt", grantId), userId, giver.email],
    );
    const row = rows[0];
    if (
      row === undefined ||
      !contains(giver.scope, reachOf({ regions: row.regions, tenantIds: row.tenant_ids }))
    ) {
      throw new SluiceError("not_found", "There is no such grant in your scope.");
    }
    if (row.own) {
      throw new SluiceError(
        "forbidden",
        "Another administrator must take your own grants, so that one always stays.",
      );
    }
    await client.query("DELETE FROM sluice.console_grant WHERE id = $1", [row.id]);
    const after = { grant: grantId, role: row.role, regions: row.regions.join() };
    await auditAccess(client, by, { action: "grant.revoke", kind: "user", id: personId, after });
    return { id: grantId };
  });
}

/** The living grants of an account with their ends; none of one that is disabled. */
export async function readEndingGrants(
  client: Pick<PoolClient, "query">,
  email: string,
): Promise<EndingGrant[]> {
  const { rows } = await client.query<GrantRow & { expires_at: Date | null }>(
    `SELECT g.id, g.role, g.regions, g.tenant_ids, g.can_reveal, g.expires_at
       FROM sluice.console_grant g JOIN sluice.console_user u ON u.id = g.user_id
      WHERE u.email = $1 AND u.disabled_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())
      ORDER BY g.created_at LIMIT $2`,
    [email, MAX_GRANTS_PER_PERSON],
  );
  return rows.map((row) => ({ ...bareGrant(row), endsMs: row.expires_at?.getTime() ?? null }));
}

function bareGrant(row: GrantRow): Grant {
  const { role, regions, tenant_ids: tenantIds, can_reveal: canReveal } = row;
  return { role, regions, tenantIds, canReveal, actions: null };
}

async function lockPerson(client: Pick<PoolClient, "query">, personId: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM sluice.console_user WHERE id = $1 FOR UPDATE",
    [fromPublicId("usr", personId)],
  );
  if (rows[0] === undefined) throw new SluiceError("not_found", "There is no such person.");
  return rows[0].id;
}

function endOf(latestMs: number | null, wantedMs: number | null): number | null {
  if (latestMs === null) return wantedMs;
  return wantedMs === null ? latestMs : Math.min(latestMs, wantedMs);
}

const ADD = `
  INSERT INTO sluice.console_grant (id, user_id, role, regions, tenant_ids, can_reveal, granted_by, expires_at)
  SELECT gen_random_uuid(), $1::uuid, $2::text, $3::text[], $4::uuid[], $5::boolean, $6::text, $7::timestamptz
   WHERE (SELECT count(*) FROM sluice.console_grant g WHERE g.user_id = $1
             AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())) < $8::integer
  RETURNING id`;

const PEOPLE = `
  SELECT u.id, u.email, u.name, u.disabled_at IS NOT NULL AS disabled,
         coalesce((SELECT json_agg(json_build_object('id', g.id, 'role', g.role, 'regions', g.regions,
                                   'tenant_ids', g.tenant_ids, 'can_reveal', g.can_reveal, 'granted_by', g.granted_by,
                                   'created_at', g.created_at, 'expires_at', g.expires_at) ORDER BY g.created_at, g.id)
                     FROM sluice.console_grant g
                    WHERE g.user_id = u.id AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())), '[]') AS grants
    FROM sluice.console_user u ORDER BY u.email LIMIT $1`;

interface GrantRow {
  id: string;
  role: Role;
  regions: Region[];
  tenant_ids: string[] | null;
  can_reveal: boolean;
}

/** Times come out of the JSON as text. */
interface ListedGrantRow extends GrantRow {
  granted_by: string;
  created_at: string;
  expires_at: string | null;
}

interface PersonRow {
  id: string;
  email: string;
  name: string;
  disabled: boolean;
  grants: ListedGrantRow[];
}

function toGrant(row: ListedGrantRow): PersonGrant {
  return {
    id: toPublicId("grt", row.id),
    role: row.role,
    regions: row.regions,
    tenants: row.tenant_ids?.length ?? null,
    canReveal: row.can_reveal,
    grantedBy: row.granted_by,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at).toISOString(),
  };
}
