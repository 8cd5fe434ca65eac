/**
 * The session in which this folder's statements run. Their plans are cached for the life of a connection, often while
 * the table is as good as empty; a plan that reads the whole table would then stay until the next ANALYZE and read
 * 50,000 rows for each lane. Statements that have no index to go by (the sampler's) still read it whole.
 */

const OPTION = "-c enable_seqscan=off";

/** The same URL, for a pool that runs the queue's statements. Options that the URL has already are kept. */
export function withQueueSession(connectionString: string): string {
  const url = new URL(connectionString);
  const given = url.searchParams.get("options");
  url.searchParams.set("options", given ? `${given} ${OPTION}` : OPTION);
  return url.href;
}
