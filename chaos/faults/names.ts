/** Names that worker processes and statements carry in pg_stat_activity and on the wire. */

/** Application name of a region's workers; the connection that hears hints has `-hints` behind it. */
export function applicationOfWorkers(region: string): string {
  return `sluice-worker-${region}`;
}

/** Names of the prepared statements: every message of a call carries its own. */
export const CLAIM_STATEMENT = "sluice-claim";
export const FINISH_STATEMENT = "sluice-finish";
/** What stands in the text of the statements. */
export const CLAIM_CALL = "sluice.claim(";
export const FINISH_CALL = "sluice.finish(";
export const BARRIER_CALL = "sluice.barrier(";
