/** Card-authorisation holds of the demo's business that have all expired, for its own sweep to release. */
import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { BenchTenant } from "../lib/sql.ts";

const CHUNK_ROWS = 5_000;

/** One expired hold for each entry, in the given order of expiry. */
export async function makeExpiredHolds(
  pool: Pool,
  holds: readonly { readonly tenant: BenchTenant; readonly destinationId: string }[],
): Promise<void> {
  await pool.query("TRUNCATE sluice.demo_card_hold, sluice.demo_ledger_entry");
  for (let from = 0; from < holds.length; from += CHUNK_ROWS) {
    const chunk = holds.slice(from, from + CHUNK_ROWS);
    await pool.query(
      `INSERT INTO sluice.demo_card_hold (id, region, tenant_id, destination_id, amount_minor, currency, card_last4, expires_at)
       SELECT h.id, rc.region, h.tenant_id, h.destination_id, 1250, 'EUR', '4242',
              clock_timestamp() - interval '1 minute' + (h.ord + $4) * interval '1 microsecond'
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS h(id, tenant_id, destination_id, ord), sluice.region_control rc`,
      [
        chunk.map(() => randomUUID()),
        chunk.map(({ tenant }) => tenant.tenantId),
        chunk.map(({ destinationId }) => destinationId),
        from,
      ],
    );
  }
}
