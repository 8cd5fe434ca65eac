/**
 * What a run says in the end: one JSON object, and for people one line for each thing that is wrong. A kind of fault
 * that never happened, or a check that had nothing to look at, is a failure: such a run has shown nothing.
 */
import type { ChaosResult } from "./chaos.ts";
import type { Checked, Violations } from "./check.ts";

export interface ChaosSummary {
  readonly ok: boolean;
  readonly seed: number;
  readonly seconds: number;
  readonly faults: number;
  readonly deliveries: number;
  readonly lost: number;
  readonly doubleEffects: number;
  readonly crossRegion: number;
  readonly capBreaches: number;
  readonly early: number;
  readonly changed: number;
  readonly phantoms: number;
  readonly misnumbered: number;
  readonly controlBreaches: number;
  readonly stalls: number;
  readonly unexpectedExits: number;
  /** Stops by SIGTERM with another exit code than 0, or with a lease left. */
  readonly uncleanStops: number;
  /** Requests of a process that was stopped or cut off for longer than its lease. */
  readonly zombies: number;
  /** Those that arrived after their lease was over. */
  readonly lateZombies: number;
  /** Those whose delivery was not delivered with one effect. */
  readonly unhealedZombies: number;
  /** Dead letters worker_lost whose holder the harness took away three times. */
  readonly workerLostExcused: number;
  /** Of all windows of a declared rate, by how much the worst was too short, in milliseconds. */
  readonly worstOverSendMs: number;
  readonly requests: number;
  /** Requests for each delivery. */
  readonly amplification: number;
  readonly loadSeconds: number;
  readonly restSeconds: number;
  readonly writerRetries: number;
  readonly misses: number;
  readonly faultsByKind: Readonly<Record<string, number>>;
  readonly checked: Checked;
}

const PER_KIND = 3;
const SHOWN_CHARS = 300;

export function summarise(result: ChaosResult): { summary: ChaosSummary; problems: string[] } {
  const problems = problemsOf(result);
  const { judgement, findings, evidence } = result;
  const { violations, checked, zombies } = judgement;
  const summary: ChaosSummary = {
    ok: problems.length === 0,
    seed: result.options.seed,
    seconds: Math.round(result.seconds),
    faults: sum(result.faultsByKind),
    deliveries: evidence.ledger.length,
    ...(Object.fromEntries(Object.entries(violations).map(([name, cases]) => [name, cases.length])) as Record<
      keyof Violations,
      number
    >),
    controlBreaches: findings.controlBreaches.length,
    stalls: findings.stalls.length,
    unexpectedExits: result.unexpectedExits.length,
    uncleanStops: findings.uncleanStops.length,
    zombies: zombies.length,
    lateZombies: zombies.filter(({ isLate }) => isLate).length,
    unhealedZombies: zombies.filter(({ isHealed }) => !isHealed).length,
    workerLostExcused: judgement.excused,
    worstOverSendMs: Number(judgement.worstOverSendMs.toFixed(1)),
    requests: checked.requests,
    amplification: Number((checked.requests / Math.max(1, evidence.ledger.length)).toFixed(3)),
    loadSeconds: Math.round(result.loadSeconds),
    restSeconds: Math.round(result.restSeconds),
    writerRetries: result.writerFailures,
    misses: result.misses,
    faultsByKind: result.faultsByKind,
    checked,
  };
  return { summary, problems };
}

/** Everything for which the run fails, a few lines for each kind of thing. */
function problemsOf(result: ChaosResult): string[] {
  const { judgement, findings, faultsByKind, evidence, options } = result;
  const problems: string[] = [];
  const add = (name: string, cases: readonly string[]) => {
    for (const each of cases.slice(0, PER_KIND)) problems.push(`${name}: ${each.slice(0, SHOWN_CHARS)}`);
    if (cases.length > PER_KIND) problems.push(`${name}: and ${cases.length - PER_KIND} more`);
  };
  for (const [name, cases] of Object.entries(judgement.violations)) add(name, cases);
  add("control breach", findings.controlBreaches);
  add("stall", findings.stalls);
  add("a worker ended by itself", result.unexpectedExits);
  add("unclean stop", findings.uncleanStops);
  add("not at rest", result.restless);
  const unhealed = judgement.zombies.filter(({ isHealed }) => !isHealed);
  add(
    "a zombie's delivery has not one effect",
    unhealed.map(({ deliveryId }) => deliveryId),
  );
  const missing = Object.keys(faultsByKind).filter((kind) => faultsByKind[kind] === 0);
  if (missing.length > 0) problems.push(`these kinds of faults never happened: ${missing.join(", ")}`);
  if (sum(faultsByKind) < options.faults) {
    problems.push(`${sum(faultsByKind)} faults took effect, ${options.faults} were asked for`);
  }
  const blind = Object.entries(judgement.checked).filter(([, seen]) => seen === 0);
  // A run without faults that cost leases has none to look at.
  const needed = blind.filter(([name]) => isNeeded(name as keyof Checked, faultsByKind));
  if (needed.length > 0)
    problems.push(`these checks had nothing to look at: ${needed.map(([name]) => name).join(", ")}`);
  if (evidence.forgotten > 0) problems.push(`the receiver has forgotten ${evidence.forgotten} records`);
  return problems;
}

const COSTS_LEASES = [
  "kill",
  "zombie",
  "network_cut",
  "claim_reply_lost",
  "claim_client_stopped",
  "finish_client_stopped",
];
/** Late results come from processes that live on without their lease. */
const MAKES_LATE = ["zombie", "network_cut", "finish_client_stopped"];

function isNeeded(name: keyof Checked, faultsByKind: Readonly<Record<string, number>>): boolean {
  const happened = (kinds: readonly string[]) => kinds.some((kind) => (faultsByKind[kind] ?? 0) > 0);
  if (name === "leasesLost") return happened(COSTS_LEASES);
  if (name === "staleResults") return happened(MAKES_LATE);
  return true;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
