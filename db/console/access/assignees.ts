/**
 * Who can look after a cause of dead letters: people whose grants let them see it. A name that nobody answers to is not
 * stored, and nobody is offered who would find nothing when they look. Reads only.
 */
import type { Pool } from "pg";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";

/** People offered; another one can still be named by the whole address. */
export const MAX_ASSIGNEES = 200;

/** What somebody must see. `tenantId` is a UUID; null for a cause of several tenants, which only a whole region covers. */
export interface Assigned {
  readonly region: Region;
  readonly tenantId: string | null;
}

export interface Assignee {
  email: string;
  name: string;
}

export interface Assignees {
  assignees: Assignee[];
  /** More people may see it than are listed. */
  truncated: boolean;
}

/** By address. Disabled accounts and grants that have ended are left out. */
export async function listAssignees(
  pool: Pick<Pool, "query">,
  { region, tenantId }: Assigned,
): Promise<Assignees> {
  const { rows } = await pool.query<Assignee>(`${SEEING} ORDER BY u.email LIMIT $3`, [
    region,
    tenantId,
    MAX_ASSIGNEES + 1,
  ]);
  return { assignees: rows.slice(0, MAX_ASSIGNEES), truncated: rows.length > MAX_ASSIGNEES };
}

/**
 * Does nothing when somebody who may see it has this address.
 * @throws SluiceError `invalid_body` at the field `assignee`
 */
export async function requireAssignee(
  pool: Pick<Pool, "query">,
  { region, tenantId }: Assigned,
  email: string,
): Promise<void> {
  const { rows } = await pool.query(`${SEEING} AND u.email = $3 LIMIT 1`, [region, tenantId, email]);
  if (rows.length > 0) return;
  // The same words for who does not exist and for who may not see it: nobody is found out by asking.
  const detail = "must be the e-mail address of a person who may see this cause, or null for nobody";
  throw new SluiceError("invalid_body", `assignee ${detail}`, { errors: [{ pointer: "assignee", detail }] });
}

const SEEING = `
  SELECT u.email, u.name FROM sluice.console_user u
   WHERE u.disabled_at IS NULL
     AND EXISTS (SELECT 1 FROM sluice.console_grant g
                  WHERE g.user_id = u.id AND $1::text = ANY (g.regions)
                    AND (g.expires_at IS NULL OR g.expires_at > clock_timestamp())
                    AND (g.tenant_ids IS NULL OR $2::uuid = ANY (g.tenant_ids)))`;
