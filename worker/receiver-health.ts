/**
 * What this process saw of its destinations since it last told the database: failures, timeouts, and successes where
 * there was trouble before. It only collects: what follows, the stored state decides. An ordinary success must cost no
 * more than a count in memory, and nothing here may hold a delivery back.
 */
import type { HealthAnswer, HealthReport } from "#db/queue/note-health.ts";
import { drainGained, ROUND_MS } from "#domain/adaptive-limit.ts";
import type { HealthSign } from "#domain/breaker.ts";

/** A window of successes; the one before it is what a gain is measured against. */
const DRAIN_WINDOW_MS = 1_000;
/** Destinations that are remembered at most; beyond it one is forgotten, and a claim tells of it again. */
const MAX_WATCHED = 20_000;

export interface Observation {
  readonly destinationId: string;
  readonly sign: HealthSign;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly timedOut: boolean;
  /** It met a gate: trouble for a clean round, whatever its sign. */
  readonly gated: boolean;
  /** What went wrong, for staff: `timeout`, `ECONNREFUSED`, `503`. */
  readonly why: string | null;
}

interface Pending {
  succeededMs: number | null;
  failures: number;
  firstFailureMs: number | null;
  aliveMs: number | null;
  downs: number;
  firstDownMs: number | null;
  lastDownStartedMs: number | null;
  downWhy: string | null;
  timeoutStartedMs: number | null;
}

/** Work waits behind an adaptive limit and there has been no trouble since. */
interface Round {
  sinceMs: number;
  successes: number;
}

interface Drain {
  successes: number;
  durationMs: number;
}

export class ReceiverHealth {
  readonly #watched = new Set<string>();
  readonly #open = new Set<string>();
  readonly #rounds = new Map<string, Round>();
  #pending = new Map<string, Pending>();
  #drain = new Map<string, Drain>();
  #drainBefore = new Map<string, Drain>();
  #windowSinceMs = Number.NEGATIVE_INFINITY;
  #windowBeforeMs = 0;

  /** What a claim said of a destination. */
  learn(
    destinationId: string,
    claimed: { readonly watched: boolean; readonly limited: boolean; readonly ranDry: boolean },
    nowMs: number,
  ): void {
    if (claimed.watched) this.#watch(destinationId);
    else if (!this.#pending.has(destinationId)) this.#forget(destinationId);
    if (claimed.limited) {
      if (!this.#rounds.has(destinationId)) this.#rounds.set(destinationId, { sinceMs: nowMs, successes: 0 });
    } else if (claimed.ranDry || !claimed.watched) {
      // Nothing waits behind the limit: it is not what holds the destination back.
      this.#rounds.delete(destinationId);
    }
  }

  note(seen: Observation): void {
    if (seen.sign === "none") return;
    const { destinationId, sign } = seen;
    if (sign === "success") this.#countSuccess(destinationId, seen.endedMs - seen.startedMs);
    if (seen.gated || seen.timedOut) this.#rounds.delete(destinationId);
    const counts = sign === "down" || sign === "refused";
    if (counts) this.#watch(destinationId);
    else if (!this.#watched.has(destinationId)) return;
    const pending = this.#pendingOf(destinationId);
    if (sign === "down") {
      pending.downs += 1;
      pending.firstDownMs ??= seen.endedMs;
      pending.lastDownStartedMs = Math.max(pending.lastDownStartedMs ?? 0, seen.startedMs);
      pending.downWhy = seen.why;
    } else {
      Object.assign(pending, { aliveMs: seen.endedMs, downs: 0, firstDownMs: null, lastDownStartedMs: null });
    }
    if (counts) {
      pending.failures += 1;
      pending.firstFailureMs ??= seen.endedMs;
    } else if (sign === "success") {
      Object.assign(pending, { succeededMs: seen.endedMs, failures: 0, firstFailureMs: null });
    }
    if (seen.timedOut) pending.timeoutStartedMs = Math.max(pending.timeoutStartedMs ?? 0, seen.startedMs);
  }

  /** What has to be reported now, at most `limit` destinations; the rest comes with the next call. */
  take(nowMs: number, limit: number): HealthReport[] {
    const due = new Set<string>(this.#pending.keys());
    for (const [id, round] of this.#rounds) {
      if (round.successes > 0 && nowMs - round.sinceMs >= ROUND_MS) due.add(id);
    }
    const reports: HealthReport[] = [];
    for (const destinationId of due) {
      if (reports.length >= limit) break;
      reports.push(this.#reportOf(destinationId, nowMs));
      this.#pending.delete(destinationId);
    }
    this.#turnWindow(nowMs);
    return reports;
  }

  /** The report did not arrive. What has been seen since is newer, so it counts if both say something. */
  putBack(reports: readonly HealthReport[]): void {
    for (const report of reports) {
      const newer = this.#pending.get(report.destination_id);
      const older = pendingFrom(report);
      this.#pending.set(report.destination_id, newer === undefined ? older : joined(older, newer));
    }
  }

  /** An open breaker that this process knows of: its request is a question, and the answer is wanted before the next one. */
  isOpen(destinationId: string): boolean {
    return this.#open.has(destinationId);
  }

  /** What stands in the database now. */
  answered(answer: HealthAnswer, nowMs: number): void {
    const { destinationId } = answer;
    if (answer.breaker === "open" && this.#watched.has(destinationId)) this.#open.add(destinationId);
    else this.#open.delete(destinationId);
    const round = this.#rounds.get(destinationId);
    if (round === undefined) return;
    if (answer.adaptiveLimit === null) this.#rounds.delete(destinationId);
    else if (answer.adaptiveMoved || round.sinceMs < (answer.adaptiveChangedAtMs ?? 0)) {
      // Successes under another limit say nothing about this one. Ours is the lower bound of the database's time.
      this.#rounds.set(destinationId, {
        sinceMs: Math.max(nowMs, answer.adaptiveChangedAtMs ?? nowMs),
        successes: 0,
      });
    }
  }

  #countSuccess(destinationId: string, durationMs: number): void {
    const drain = this.#drain.get(destinationId);
    if (drain === undefined) this.#drain.set(destinationId, { successes: 1, durationMs });
    else {
      drain.successes += 1;
      drain.durationMs += durationMs;
    }
    const round = this.#rounds.get(destinationId);
    if (round !== undefined) round.successes += 1;
  }

  #watch(destinationId: string): void {
    if (this.#watched.size >= MAX_WATCHED && !this.#watched.has(destinationId)) {
      for (const oldest of this.#watched) {
        this.#forget(oldest);
        break;
      }
    }
    this.#watched.add(destinationId);
  }

  #forget(destinationId: string): void {
    this.#watched.delete(destinationId);
    this.#open.delete(destinationId);
  }

  #pendingOf(destinationId: string): Pending {
    let pending = this.#pending.get(destinationId);
    if (pending === undefined) {
      pending = pendingFrom({ destination_id: destinationId, failures: 0, downs: 0 });
      this.#pending.set(destinationId, pending);
    }
    return pending;
  }

  #reportOf(destinationId: string, nowMs: number): HealthReport {
    const pending = this.#pendingOf(destinationId);
    const round = this.#rounds.get(destinationId);
    const roundIsOver = round !== undefined && nowMs - round.sinceMs >= ROUND_MS;
    return {
      destination_id: destinationId,
      failures: pending.failures,
      downs: pending.downs,
      ...present("succeeded_ms", pending.succeededMs),
      ...present("first_failure_ms", pending.firstFailureMs),
      ...present("alive_ms", pending.aliveMs),
      ...present("first_down_ms", pending.firstDownMs),
      ...present("last_down_started_ms", pending.lastDownStartedMs),
      ...present("down_why", pending.downWhy),
      ...(pending.timeoutStartedMs === null
        ? {}
        : {
            timeout_started_ms: pending.timeoutStartedMs,
            drain_gained: this.#gained(destinationId, nowMs),
            ...present("service_ms", this.#serviceMs(destinationId)),
          }),
      ...(roundIsOver ? { round_since_ms: round.sinceMs, round_successes: round.successes } : {}),
    };
  }

  #gained(destinationId: string, nowMs: number): boolean {
    const before = this.#drainBefore.get(destinationId)?.successes ?? 0;
    const now = this.#drain.get(destinationId)?.successes ?? 0;
    const sinceMs = Math.max(1, nowMs - this.#windowSinceMs);
    if (this.#windowBeforeMs <= 0 || !Number.isFinite(sinceMs)) return false;
    return drainGained(before / this.#windowBeforeMs, now / sinceMs);
  }

  #serviceMs(destinationId: string): number | null {
    const windows = [this.#drain.get(destinationId), this.#drainBefore.get(destinationId)];
    const successes = windows.reduce((sum, drain) => sum + (drain?.successes ?? 0), 0);
    const durationMs = windows.reduce((sum, drain) => sum + (drain?.durationMs ?? 0), 0);
    return successes === 0 ? null : durationMs / successes;
  }

  #turnWindow(nowMs: number): void {
    const lastedMs = nowMs - this.#windowSinceMs;
    if (lastedMs < DRAIN_WINDOW_MS) return;
    this.#drainBefore = this.#drain;
    this.#windowBeforeMs = Number.isFinite(lastedMs) ? lastedMs : 0;
    this.#drain = new Map();
    this.#windowSinceMs = nowMs;
  }
}

function pendingFrom(report: HealthReport): Pending {
  return {
    succeededMs: report.succeeded_ms ?? null,
    failures: report.failures,
    firstFailureMs: report.first_failure_ms ?? null,
    aliveMs: report.alive_ms ?? null,
    downs: report.downs,
    firstDownMs: report.first_down_ms ?? null,
    lastDownStartedMs: report.last_down_started_ms ?? null,
    downWhy: report.down_why ?? null,
    timeoutStartedMs: report.timeout_started_ms ?? null,
  };
}

/** Two reports of one destination, the older first, as if they had been one. */
function joined(older: Pending, newer: Pending): Pending {
  const afterSuccess = newer.succeededMs !== null;
  const afterAnswer = newer.aliveMs !== null;
  return {
    succeededMs: newer.succeededMs ?? older.succeededMs,
    failures: newer.failures + (afterSuccess ? 0 : older.failures),
    firstFailureMs: afterSuccess ? newer.firstFailureMs : (older.firstFailureMs ?? newer.firstFailureMs),
    aliveMs: newer.aliveMs ?? older.aliveMs,
    downs: newer.downs + (afterAnswer ? 0 : older.downs),
    firstDownMs: afterAnswer ? newer.firstDownMs : (older.firstDownMs ?? newer.firstDownMs),
    lastDownStartedMs: newer.lastDownStartedMs ?? (afterAnswer ? null : older.lastDownStartedMs),
    downWhy: newer.downWhy ?? older.downWhy,
    timeoutStartedMs: newer.timeoutStartedMs ?? older.timeoutStartedMs,
  };
}

function present<K extends string, V>(key: K, value: V | null): { [key in K]?: V } {
  return value === null ? {} : ({ [key]: value } as { [key in K]?: V });
}
