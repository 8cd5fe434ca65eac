/**
 * Takes ownership of due rows: one call of `sluice.claim`, which enforces every limit exactly behind one lock.
 * It must never read a body here: the answer has to fit into the socket's buffer, because the lock is held until
 * Postgres has sent it (a client that stops in the middle would otherwise stop the region).
 */
import type { Lane, ServiceClass } from "#domain/delivery.ts";
import type { LaneKey, Queryable } from "./types.ts";

/** Most entries of one claim; the SQL function refuses more. */
export const MAX_CLAIM_ENTRIES = 256;

/**
 * Why an entry gave fewer rows than it asked for; null when there simply were no more. "deferred": rows are there, but
 * the byte budget was used up or they lost a lease before and go out one at a time.
 */
export type ClaimBlocker =
  | "deleted"
  | "region_draining"
  | "other_owner"
  | "tenant_paused"
  | "destination_paused"
  | "destination_disabled"
  | "gate"
  | "breaker"
  | "rate"
  | "resume_ramp"
  | "adaptive_limit"
  | "destination_cap"
  | "tenant_cap"
  | "deferred";

export interface ClaimEntry extends LaneKey {
  /** Most rows to take. */
  readonly wanted: number;
}

export interface ClaimRequest {
  /** The claim owner of this program; rows of another owner are left alone. */
  readonly owner: string;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Bound of the sum of the bodies' sizes; one row always passes. */
  readonly maxBytes: number;
  readonly entries: readonly ClaimEntry[];
}

export interface EntryResult {
  readonly taken: number;
  readonly blocker: ClaimBlocker | null;
  /** When the blocker ends by itself, in database time; null when that is not known. */
  readonly untilMs: number | null;
}

/**
 * When the tokens of an entry's rows are there (database time; often long ago): the first at `startMs`, each further one
 * `gapMs` later. A request must not start before its token, which may be taken up to 100 ms before it is there
 * (RATE_AHEAD_MS of domain/rate.ts), so that reading the row costs the rate nothing.
 */
export interface Pace {
  readonly startMs: number;
  readonly gapMs: number;
  readonly burst: number;
}

export interface Claim {
  /** Database time of the claim; due times and leases were compared with it. */
  readonly claimedAtMs: number;
  readonly leaseUntilMs: number;
  /** Fresh for each claim: with a row's id it fences every later write. */
  readonly token: string;
  readonly ids: readonly string[];
  /** One result for each entry, in the order given. */
  readonly entries: readonly EntryResult[];
  /** For each entry that took rows of a rate-limited destination: from when they may start. Null: at once. */
  readonly paces: readonly (Pace | null)[];
  /**
   * For each entry: the destination has an adaptive limit, an open breaker or failures in a row, so its successes have to be
   * reported (note-health.ts).
   */
  readonly watched: readonly boolean[];
}

interface ClaimRow {
  claimed_at: Date;
  token: string;
  until: Date;
  ids: string[];
  entry_taken: number[];
  entry_blocker: (ClaimBlocker | null)[];
  entry_until: (Date | null)[];
  entry_start_ms: (number | null)[];
  entry_gap_ms: (number | null)[];
  entry_burst: (number | null)[];
  entry_watched: boolean[];
}

const CLAIM = `
  SELECT claimed_at, token, until, ids, entry_taken, entry_blocker, entry_until, entry_gap_ms, entry_burst, entry_watched,
         -- With fractions: a start that is cut to the millisecond is one before its token.
         ARRAY(SELECT (extract(epoch FROM s.at) * 1000)::float8 FROM unnest(entry_start) WITH ORDINALITY AS s(at, ord) ORDER BY s.ord) AS entry_start_ms
    FROM sluice.claim($1, $2, $3, $4, $5::sluice.lane[], $6::sluice.service_class[], $7::uuid[], $8::uuid[], $9::integer[])`;

/**
 * Claims at most what the entries ask for.
 * @throws a Postgres error 55P03 when another claim held the lock for a second; nothing was taken then.
 */
export async function claim(pool: Queryable, request: ClaimRequest): Promise<Claim> {
  const lanes: Lane[] = [];
  const classes: ServiceClass[] = [];
  const tenants: string[] = [];
  const destinations: string[] = [];
  const wanted: number[] = [];
  for (const entry of request.entries) {
    lanes.push(entry.lane);
    classes.push(entry.serviceClass);
    tenants.push(entry.tenantId);
    destinations.push(entry.destinationId);
    wanted.push(entry.wanted);
  }
  const result = await pool.query<ClaimRow>({
    name: "sluice-claim",
    text: CLAIM,
    values: [
      request.owner,
      request.workerId,
      request.leaseMs,
      request.maxBytes,
      lanes,
      classes,
      tenants,
      destinations,
      wanted,
    ],
  });
  const row = result.rows[0];
  if (row === undefined) throw new Error("sluice.claim returned no row");
  return {
    claimedAtMs: row.claimed_at.getTime(),
    leaseUntilMs: row.until.getTime(),
    token: row.token,
    ids: row.ids,
    entries: request.entries.map((_, index) => ({
      taken: row.entry_taken[index] ?? 0,
      blocker: row.entry_blocker[index] ?? null,
      untilMs: row.entry_until[index]?.getTime() ?? null,
    })),
    paces: request.entries.map((_, index) => {
      const startMs = row.entry_start_ms[index] ?? null;
      return startMs === null
        ? null
        : { startMs, gapMs: row.entry_gap_ms[index] ?? 0, burst: row.entry_burst[index] ?? 1 };
    }),
    watched: request.entries.map((_, index) => row.entry_watched[index] ?? false),
  };
}
