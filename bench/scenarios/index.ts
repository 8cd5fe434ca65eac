/** Every scenario, in the order of the table. */
import type { Scenario } from "../lib/scenario.ts";
import { backlog } from "./backlog.ts";
import { bursty } from "./bursty.ts";
import { cadence } from "./cadence.ts";
import { consoleReads } from "./console.ts";
import { drain } from "./drain.ts";
import { dueLag } from "./due-lag.ts";
import { holds } from "./holds.ts";
import { idle } from "./idle.ts";
import { jain } from "./jain.ts";
import { latency } from "./latency.ts";
import { limits } from "./limits.ts";
import { noisyNeighbour } from "./noisy-neighbour.ts";
import { profile } from "./profile.ts";
import { replay } from "./replay.ts";
import { soak } from "./soak.ts";
import { storm } from "./storm.ts";
import { tenThousand } from "./ten-thousand.ts";
import { wal } from "./wal.ts";
import { writers } from "./writers.ts";

export const SCENARIOS: readonly Scenario[] = [
  drain,
  tenThousand,
  writers,
  latency,
  dueLag,
  bursty,
  limits,
  holds,
  noisyNeighbour,
  storm,
  replay,
  backlog,
  jain,
  idle,
  soak,
  wal,
  consoleReads,
];

/** Explain a row; run by name only. */
export const EXTRA_SCENARIOS: readonly Scenario[] = [profile, cadence];
