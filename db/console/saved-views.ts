/**
 * Saved views in the console's own database. A person sees their own and those that others share with their scope; they
 * change only their own. They are preferences, not controls: they are not audited.
 */
import type { Pool } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import type { AccessScope } from "#domain/permissions.ts";
import { MAX_SAVED_VIEWS, type SavedViewPage, type ViewContent, viewReach } from "#domain/saved-view.ts";
import { transact } from "./access/audit.ts";

const UNIQUE_VIOLATION = "23505";
/** Serialises sharing, so that two people cannot pass the limit together. No other lock has this class. */
const SHARE_LOCK = [5304, 1] as const;

export interface SavedView {
  /** `viw_...` */
  id: string;
  name: string;
  /** Without the question mark. */
  query: string;
  shared: boolean;
  /** False: somebody shares it. */
  own: boolean;
  /** Name of the person who made it. */
  by: string;
}

export interface SavedViews {
  views: SavedView[];
  /** The person's own views, on all pages, of at most `max`. */
  own: number;
  max: number;
}

/** The views of one page, own ones first, each by name. @throws SluiceError `not_found` for an account that is gone */
export async function listSavedViews(
  pool: Pool,
  email: string,
  scope: AccessScope,
  page: SavedViewPage,
): Promise<SavedViews> {
  const { regions, whole } = viewReach(scope);
  const { rows } = await pool.query<ViewRow>(LIST, [
    email,
    page,
    regions,
    whole,
    MAX_SAVED_VIEWS,
    whole.length === regions.length,
  ]);
  const count = await pool.query<{ own: number }>(COUNT_OWN, [email]);
  return { views: rows.map(toView), own: count.rows[0]?.own ?? 0, max: MAX_SAVED_VIEWS };
}

/**
 * Saves a view. @returns its `viw_...`
 * @throws SluiceError `state_conflict` when the name is taken or the limit reached, `not_found` for an account that is gone
 */
export async function addSavedView(
  pool: Pool,
  email: string,
  view: ViewContent & { page: SavedViewPage; shared: boolean },
): Promise<string> {
  try {
    return await transact(pool, async (client) => {
      // The row of the person serialises their saves, so that the limit holds for two tabs at once.
      const { rows } = await client.query<{ id: string }>(
        "SELECT id FROM sluice.console_user WHERE email = $1 FOR UPDATE",
        [email],
      );
      const userId = rows[0]?.id;
      if (userId === undefined) throw new SluiceError("not_found", "There is no such account.");
      if (view.shared) await client.query("SELECT pg_advisory_xact_lock($1, $2)", [...SHARE_LOCK]);
      await refuseFull(client, email, view);
      const made = await client.query<{ id: string }>(
        `INSERT INTO sluice.console_saved_view (id, user_id, page, name, query, shared, region, names_rows)
         VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7) RETURNING id`,
        [userId, view.page, view.name, view.query, view.shared, view.region, view.namesRows],
      );
      return toPublicId("viw", made.rows[0]?.id ?? "");
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw new SluiceError("state_conflict", `You have a view called "${view.name}" on this page already.`);
  }
}

/**
 * Deletes one's own view.
 * @throws SluiceError `not_found` for one that does not exist or is somebody else's, `bad_id`
 */
export async function deleteSavedView(pool: Pool, email: string, id: string): Promise<{ id: string }> {
  const { rowCount } = await pool.query(
    `DELETE FROM sluice.console_saved_view v USING sluice.console_user u
      WHERE v.id = $1 AND u.id = v.user_id AND u.email = $2`,
    [fromPublicId("viw", id), email],
  );
  if (rowCount === 0) throw new SluiceError("not_found", "You have no such view.");
  return { id };
}

async function refuseFull(
  client: Pick<Pool, "query">,
  email: string,
  view: { page: SavedViewPage; shared: boolean },
): Promise<void> {
  const own = await client.query<{ own: number }>(COUNT_OWN, [email]);
  if ((own.rows[0]?.own ?? 0) >= MAX_SAVED_VIEWS) {
    throw new SluiceError(
      "state_conflict",
      `You have ${MAX_SAVED_VIEWS} views, which is the limit. Delete one first.`,
    );
  }
  if (!view.shared) return;
  const shared = await client.query<{ shared: number }>(COUNT_SHARED, [view.page]);
  if ((shared.rows[0]?.shared ?? 0) >= MAX_SAVED_VIEWS) {
    throw new SluiceError(
      "state_conflict",
      `${MAX_SAVED_VIEWS} views of this page are shared, which is the limit. Save it for yourself, or ask somebody to delete one.`,
    );
  }
}

const COUNT_OWN = `
  SELECT count(*)::integer AS own FROM sluice.console_saved_view v JOIN sluice.console_user u ON u.id = v.user_id
   WHERE u.email = $1`;
const COUNT_SHARED =
  "SELECT count(*)::integer AS shared FROM sluice.console_saved_view WHERE page = $1 AND shared";

interface ViewRow {
  id: string;
  name: string;
  query: string;
  shared: boolean;
  own: boolean;
  by: string;
}

// $3: regions of the reader, $4: those of them whose tenants they all see, $6: they see all tenants everywhere they see.
const LIST = `
  SELECT v.id, v.name, v.query, v.shared, u.email = $1 AS own, u.name AS by
    FROM sluice.console_saved_view v JOIN sluice.console_user u ON u.id = v.user_id
   WHERE v.page = $2
     AND (u.email = $1
          OR (v.shared AND (v.region IS NULL OR v.region = ANY ($3::text[]))
              AND (NOT v.names_rows OR v.region = ANY ($4::text[]) OR (v.region IS NULL AND $6::boolean))))
   ORDER BY u.email = $1 DESC, lower(v.name), v.id LIMIT 2 * $5::integer`;

function toView({ id, ...rest }: ViewRow): SavedView {
  return { id: toPublicId("viw", id), ...rest };
}
