/**
 * What the receiver remembers: destinations, keys, scripts and a bounded number of request records.
 * Must never grow without a limit, and must never lose a count when it gives up a record.
 */
import { parseScript, type ScriptAnswer, UNKNOWN_DESTINATION } from "./answers.ts";
import { Destination, type KeyEntry, type Script } from "./destination.ts";
import type { DestinationStats, ReceiverTotals, Recording, RequestFilter, RequestRecord } from "./types.ts";

export const DEFAULT_RECORD_LIMIT = 10_000;
export const MAX_RECORD_LIMIT = 2_000_000;
export const DEFAULT_KEY_LIMIT = 500_000;
export const MAX_DESTINATIONS = 50_000;
export const MAX_SCRIPTS = 10_000;
const MAX_KEPT_BODY_BYTES = 64 * 1024 * 1024;

export class Records {
  readonly scripts = new Map<string, Script>();
  recording: Recording;
  private readonly keyLimit: number;
  private destinations = new Map<string, Destination>();
  private current = 0;
  private peak = 0;
  // Oldest first, as a ring once its limit is reached.
  private keyOrder: KeyEntry[] = [];
  private oldestKey = 0;
  private keysForgotten = 0;
  private stored: RequestRecord[] = [];
  private oldestRecord = 0;
  private sequence = 0;
  private connections = 0;
  private connectionsBefore = 0;
  private recordsDropped = 0;
  private keptBodyBytes = 0;

  constructor(recording: Partial<Recording>, keyLimit: number) {
    this.recording = { recordLimit: DEFAULT_RECORD_LIMIT, hashBodies: true, keepBodies: false, ...recording };
    this.keyLimit = keyLimit;
  }

  /** Requests that are open now keep their own old destination and record, and change nothing that follows. */
  reset(): void {
    this.scripts.clear();
    this.destinations = new Map();
    this.current = 0;
    this.peak = 0;
    // Connections outlive a reset, so their numbers go on rising.
    this.connectionsBefore = this.connections;
    this.keyOrder = [];
    this.oldestKey = 0;
    this.keysForgotten = 0;
    this.stored = [];
    this.oldestRecord = 0;
    this.sequence = 0;
    this.recordsDropped = 0;
    this.keptBodyBytes = 0;
  }

  /** The destination of this name, or undefined when there are MAX_DESTINATIONS others. */
  destination(name: string): Destination | undefined {
    const known = this.destinations.get(name);
    if (known !== undefined || this.destinations.size >= MAX_DESTINATIONS) return known;
    return this.add(name);
  }

  /** Where requests are counted that belong to no destination: there is always room for this one. */
  unknown(): Destination {
    return this.destinations.get(UNKNOWN_DESTINATION) ?? this.add(UNKNOWN_DESTINATION);
  }

  private add(name: string): Destination {
    const fresh = new Destination(name);
    this.destinations.set(name, fresh);
    return fresh;
  }

  private owns(destination: Destination): boolean {
    return this.destinations.get(destination.name) === destination;
  }

  arrive(destination: Destination, nowMs: number, region: string | null): void {
    destination.arrive(nowMs, region);
    this.current++;
    if (this.current > this.peak) this.peak = this.current;
  }

  /** The request no longer counts as concurrent: called once, before the last byte of its answer is written. */
  leave(destination: Destination): void {
    destination.current--;
    if (this.owns(destination)) this.current--;
  }

  /** Remembers that the key was seen, and gives up the oldest key when there are too many. */
  seeKey(destination: Destination, key: string): KeyEntry {
    const known = destination.keys.get(key);
    if (known !== undefined) return known;
    const entry: KeyEntry = { destination, key, faults: 0, scriptStep: 0, effect: 0, resultStatus: 200 };
    destination.keys.set(key, entry);
    destination.distinctKeys++;
    if (!this.owns(destination)) return entry;
    if (this.keyOrder.length < this.keyLimit) {
      this.keyOrder.push(entry);
      return entry;
    }
    const oldest = this.keyOrder[this.oldestKey];
    oldest?.destination.keys.delete(oldest.key);
    this.keyOrder[this.oldestKey] = entry;
    this.oldestKey = (this.oldestKey + 1) % this.keyLimit;
    this.keysForgotten++;
    return entry;
  }

  nextConnection(): number {
    return ++this.connections;
  }

  nextSequence(): number {
    return ++this.sequence;
  }

  store(record: RequestRecord): void {
    if (this.recording.recordLimit === 0) return;
    if (this.stored.length < this.recording.recordLimit) {
      this.stored.push(record);
      return;
    }
    this.keptBodyBytes -= keptBytes(this.stored[this.oldestRecord]);
    this.stored[this.oldestRecord] = record;
    this.oldestRecord = (this.oldestRecord + 1) % this.stored.length;
    this.recordsDropped++;
  }

  /** Keeps the body with its record when bodies are kept and the limit on kept bytes allows it. */
  keepBody(record: RequestRecord, body: Buffer): void {
    if (!this.recording.keepBodies || this.keptBodyBytes + body.length > MAX_KEPT_BODY_BYTES) return;
    record.bodyBase64 = body.toString("base64");
    this.keptBodyBytes += body.length;
  }

  /** Changes what is stored from now on; a lower limit gives up the oldest records at once. */
  setRecording(change: Partial<Recording>): Recording {
    const next = { ...this.recording, ...change };
    if (!Number.isInteger(next.recordLimit) || next.recordLimit < 0 || next.recordLimit > MAX_RECORD_LIMIT) {
      throw new RangeError(`recordLimit must be a whole number up to ${MAX_RECORD_LIMIT}`);
    }
    const inOrder = this.ordered();
    const kept = next.recordLimit === 0 ? [] : inOrder.slice(-next.recordLimit);
    this.recordsDropped += inOrder.length - kept.length;
    this.stored = kept;
    this.oldestRecord = 0;
    this.keptBodyBytes = kept.reduce((sum, record) => sum + keptBytes(record), 0);
    this.recording = next;
    return next;
  }

  /** @throws AnswerSyntaxError, RangeError when there are MAX_SCRIPTS others */
  setScript(target: string, answers: readonly ScriptAnswer[], per: "request" | "key"): void {
    const parsed = parseScript(answers);
    if (parsed.length === 0) {
      this.scripts.delete(target);
      return;
    }
    if (this.scripts.size >= MAX_SCRIPTS && !this.scripts.has(target)) {
      throw new RangeError(`there are ${MAX_SCRIPTS} scripts already`);
    }
    this.scripts.set(target, { answers: parsed, per, next: 0 });
  }

  stats(name: string): DestinationStats {
    return (this.destinations.get(name) ?? new Destination(name)).stats();
  }

  allStats(): DestinationStats[] {
    return Array.from(this.destinations.values(), (destination) => destination.stats());
  }

  totals(): ReceiverTotals {
    const sum = new Destination("");
    for (const each of this.destinations.values()) addTo(sum, each);
    const { destination: _name, ...sums } = sum.stats();
    return {
      ...sums,
      currentConcurrency: this.current,
      peakConcurrency: this.peak,
      destinations: this.destinations.size,
      connections: this.connections - this.connectionsBefore,
      recordsDropped: this.recordsDropped,
      keysForgotten: this.keysForgotten,
    };
  }

  private ordered(): RequestRecord[] {
    return [...this.stored.slice(this.oldestRecord), ...this.stored.slice(0, this.oldestRecord)];
  }

  /** Copies of the stored records that match, oldest first. */
  requests(filter: RequestFilter): RequestRecord[] {
    const limit = filter.limit ?? Number.POSITIVE_INFINITY;
    const found: RequestRecord[] = [];
    for (const record of this.ordered()) {
      if (found.length >= limit) break;
      if (matches(record, filter)) found.push({ ...record });
    }
    return found;
  }
}

function keptBytes(record: RequestRecord | undefined): number {
  return record?.bodyBase64 == null ? 0 : record.bodyBytes;
}

function matches(record: RequestRecord, filter: RequestFilter): boolean {
  return (
    (filter.afterSequence === undefined || record.sequence > filter.afterSequence) &&
    (filter.destination === undefined || record.destination === filter.destination) &&
    (filter.path === undefined || record.path.split("?", 1)[0] === filter.path) &&
    (filter.key === undefined || record.key === filter.key) &&
    (filter.webhookId === undefined || record.webhookId === filter.webhookId) &&
    (filter.tenant === undefined || record.tenant === filter.tenant) &&
    (filter.region === undefined || record.region === filter.region)
  );
}

const SUMMED = [
  "requests",
  "distinctKeys",
  "effects",
  "repeated",
  "withoutKey",
  "bodyBytes",
  "finished",
  "cut",
  "aborted",
  "validSignatures",
  "badSignatures",
  "us",
  "eu",
  "otherRegion",
] as const;

function addTo(sum: Destination, each: Destination): void {
  for (const name of SUMMED) sum[name] += each[name];
  for (const [status, count] of each.statuses)
    sum.statuses.set(status, (sum.statuses.get(status) ?? 0) + count);
  const first = each.firstArrivalMs;
  const last = each.lastArrivalMs;
  if (first !== null && (sum.firstArrivalMs === null || first < sum.firstArrivalMs))
    sum.firstArrivalMs = first;
  if (last !== null && (sum.lastArrivalMs === null || last > sum.lastArrivalMs)) sum.lastArrivalMs = last;
}
