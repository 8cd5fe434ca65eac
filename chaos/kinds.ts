/** The kinds of faults, each with what it does in one line. A kind that is not in this table does not exist. */

export const FAULT_KINDS = {
  kill: "SIGKILL to a worker under load; its supervisor starts a new one",
  zombie: "SIGSTOP for longer than the lease, then SIGCONT",
  stop: "SIGTERM under load; the worker drains and a new one starts",
  restart_fast: "Postgres stops (fast) under everybody and comes back",
  restart_immediate: "Postgres is stopped without a shutdown (immediate) and recovers",
  backends_terminated: "pg_terminate_backend of all connections of a region's workers",
  claim_reply_lost: "the connection is cut after a claim has committed, before its answer arrives",
  finish_reply_lost: "the connection is cut after a finish has committed, before its answer arrives",
  connections_exhausted: "the server has no connection left while the workers have to reconnect",
  jobs_deleted: "all of graphile-worker's jobs are deleted",
  jobs_locked: "all of graphile-worker's jobs are locked by a worker that does not exist",
  clock_off: "a worker is replaced by one whose clock is three minutes wrong",
  hints_lost: "nobody hints for a while, and the listening connections are cut",
  network_cut: "a worker's connections to Postgres swallow everything for longer than the lease",
  bad_response: "answers of NUL, invalid UTF-8 and lone surrogates beside good ones",
  row_updated: "another transaction updates leased rows and holds them while their finish waits",
  barrier_beside_claim: "a tenant is paused while a claim of its rows is open",
  drain_beside_claim: "a region is drained while a claim is open, and let go again",
  claim_client_stopped: "a worker is stopped (SIGSTOP) in the middle of its claim call",
  finish_client_stopped: "a worker is stopped (SIGSTOP) in the middle of its finish call",
  default_missing: "the DEFAULT partitions are gone for a while",
  default_full: "a DEFAULT partition holds a row of a day whose own partition cannot be made any more",
} as const;

export type FaultKind = keyof typeof FAULT_KINDS;

export const ALL_KINDS = Object.keys(FAULT_KINDS) as FaultKind[];

/** Kinds that everybody on the server feels: only for a server that is ours. */
export const SERVER_KINDS: ReadonlySet<FaultKind> = new Set([
  "restart_fast",
  "restart_immediate",
  "connections_exhausted",
]);
