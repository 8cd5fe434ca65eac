/**
 * Settings for the Prisma command line. `generate` needs no database; `migrate deploy` takes its URL from
 * DATABASE_URL (one region's database at a time). Our own runner is prisma/migrate.ts.
 */
import { defineConfig } from "prisma/config";

const url = process.env.DATABASE_URL;

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  ...(url ? { datasource: { url } } : {}),
});
