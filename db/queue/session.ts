/**
 * The session in which this folder's statements run. Their plans are cached for the life of a connection, often while
 * the table is as good as empty; a plan that reads the whole table would then stay until the next ANALYZE and read
 * 50,000 rows for each lane. Statements that have no index to go by (the sampler's) still read it whole.
 */

/**
 * Each of these statements is written to have one plan, whatever it is asked. Left to itself Postgres plans those that take arrays
 * or limits anew in every call, because it takes an array of unknown length to be ten long and so prefers what it knows: a claim of one
 * row then spends five of its six milliseconds on planning. A limit or an array whose value would ask for another plan does not belong here.
 */
const OPTION = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan";

/** The same URL, for a pool that runs the queue's statements. Options that the URL has already are kept. */
export function withQueueSession(connectionString: string): string {
  const url = new URL(connectionString);
  const given = url.searchParams.get("options");
  url.searchParams.set("options", given ? `${given} ${OPTION}` : OPTION);
  return url.href;
}
