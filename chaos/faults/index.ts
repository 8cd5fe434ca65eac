/** Which function injects which kind of fault. */
import type { FaultKind } from "../kinds.ts";
import type { Inject } from "./arena.ts";
import { claimClientStopped, finishClientStopped } from "./calls.ts";
import { barrierBesideClaim, drainBesideClaim } from "./controls.ts";
import { clockOff, kill, networkCut, stop, zombie } from "./processes.ts";
import { badResponse, defaultFull, defaultMissing, rowUpdated } from "./rows.ts";
import {
  backendsTerminated,
  claimReplyLost,
  connectionsExhausted,
  finishReplyLost,
  hintsLost,
  jobsDeleted,
  jobsLocked,
  restartFast,
  restartImmediate,
} from "./server.ts";

export const FAULTS: Readonly<Record<FaultKind, Inject>> = {
  kill,
  zombie,
  stop,
  restart_fast: restartFast,
  restart_immediate: restartImmediate,
  backends_terminated: backendsTerminated,
  claim_reply_lost: claimReplyLost,
  finish_reply_lost: finishReplyLost,
  connections_exhausted: connectionsExhausted,
  jobs_deleted: jobsDeleted,
  jobs_locked: jobsLocked,
  clock_off: clockOff,
  hints_lost: hintsLost,
  network_cut: networkCut,
  bad_response: badResponse,
  row_updated: rowUpdated,
  barrier_beside_claim: barrierBesideClaim,
  drain_beside_claim: drainBesideClaim,
  claim_client_stopped: claimClientStopped,
  finish_client_stopped: finishClientStopped,
  default_missing: defaultMissing,
  default_full: defaultFull,
};
