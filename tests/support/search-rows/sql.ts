/** Looks for texts in every row of every table, for tests that say where something must not stand. */
import type { Pool } from "pg";

/** A text as itself, in base64 and in hexadecimal: how it may stand in a log, in JSON or in a bytea. */
export function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  return [text, bytes.toString("base64").replace(/.{4}=*$/, ""), bytes.toString("hex")];
}

/**
 * Names of the tables, partitions under their parent, of which a row holds one of the texts anywhere.
 * @throws Error when there is nothing to look at
 */
export async function tablesWith(pool: Pool, texts: readonly string[]): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string; parent: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, format('%s.%s', n.nspname, coalesce(p.relname, c.relname)) AS parent
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
      WHERE c.relkind = 'r' AND n.nspname IN ('sluice', 'graphile_worker', 'public')`,
  );
  if (!tables.some(({ name }) => name.startsWith("sluice."))) throw new Error("there are no tables of ours");
  const found = new Set<string>();
  for (const { name, parent } of tables) {
    const { rows } = await pool.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM ${name} t WHERE EXISTS (SELECT 1 FROM unnest($1::text[]) m WHERE position(m IN t::text) > 0)`,
      [texts],
    );
    if ((rows[0]?.n ?? 0) > 0) found.add(parent);
  }
  return [...found].sort();
}
