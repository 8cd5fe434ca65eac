/** Which migration each region's database has reached. Names of migrations belong to nobody's scope. */
import { type AccessScope, regionsOf } from "#domain/permissions.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

export interface SchemaVersion {
  /** Name of the newest applied migration. */
  last: string;
  appliedAt: string | null;
  /** Applied migrations. */
  count: number;
  /** "18.1": of the database server. */
  server: string;
}

/** Asks every region in scope. */
export function readSchemaVersions(access: AccessScope): Promise<RegionAnswer<SchemaVersion>[]> {
  return Promise.all(
    regionsOf(access).map((region) =>
      readRegion(region, async (sql) => {
        const [row] = await sql<{ last: string; applied_at: Date | null; count: number; server: string }>(
          LAST,
        );
        return {
          last: row?.last ?? "none",
          appliedAt: row?.applied_at?.toISOString() ?? null,
          count: row?.count ?? 0,
          server: row?.server ?? "unknown",
        };
      }),
    ),
  );
}

const LAST = `
  SELECT m.migration_name AS last, m.finished_at AS applied_at, (count(*) OVER ())::integer AS count,
         split_part(current_setting('server_version'), ' ', 1) AS server
    FROM sluice._prisma_migrations m WHERE m.rolled_back_at IS NULL AND m.finished_at IS NOT NULL
   ORDER BY m.migration_name DESC LIMIT 1`;
