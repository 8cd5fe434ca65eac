/**
 * What a customer's endpoint does with a request, and what it remembers. One profile for each destination; while the
 * faults last it fails as its profile says, afterwards it accepts everything that it does not refuse for good.
 */
import type { SeededRandom } from "#sim/random.ts";
import type { Us } from "#sim/scheduler.ts";

const MS = 1_000;
const SECOND = 1_000_000;

export type Profile =
  | "healthy"
  | "throttling"
  | "flaky"
  | "down"
  | "unavailable"
  | "crowded"
  | "rejecting"
  | "redirecting"
  | "gone";

/** What comes back: an answer, a broken connection, or nothing at all. */
export interface Reply {
  readonly kind: "answer" | "hang_up" | "silence";
  readonly status: number;
  readonly retryAfter: string | null;
  /** What the header asks for, from the moment of the answer; null when it asks for nothing usable. */
  readonly askedUs: number | null;
  readonly serviceUs: number;
  /** Whether the request was accepted, whatever the sender gets to hear of it. */
  readonly accepted: boolean;
}

export interface Received {
  readonly arrivedUs: Us;
  readonly deliveryId: string;
  readonly key: string;
  readonly body: string;
  readonly reply: Reply;
}

export class Receiver {
  readonly profile: Profile;
  readonly honoursKeys: boolean;
  readonly received: Received[] = [];
  /** Key -> how often its effect happened. */
  readonly effects = new Map<string, number>();
  readonly #random: SeededRandom;
  readonly #roomAtOnce: number;

  constructor(profile: Profile, honoursKeys: boolean, random: SeededRandom) {
    this.profile = profile;
    this.honoursKeys = honoursKeys;
    this.#random = random;
    this.#roomAtOnce = random.int(1, 3);
  }

  receive(nowUs: Us, request: { deliveryId: string; key: string; body: string }, failing: boolean): Reply {
    const reply = this.#reply(nowUs, failing);
    this.received.push({ arrivedUs: nowUs, ...request, reply });
    if (reply.accepted) {
      const known = this.effects.get(request.key) ?? 0;
      if (known === 0 || !this.honoursKeys) this.effects.set(request.key, known + 1);
    }
    return reply;
  }

  #reply(nowUs: Us, failing: boolean): Reply {
    const random = this.#random;
    switch (this.profile) {
      case "rejecting":
        return this.#refuse(random.pick([400, 404, 422]));
      case "redirecting":
        return this.#refuse(301);
      default:
        if (!failing) return this.#accept(2 * MS, 30 * MS);
    }
    switch (this.profile) {
      case "gone":
        return random.chance(0.3) ? this.#refuse(410) : this.#accept(MS, 50 * MS);
      case "throttling":
        return random.chance(0.6) ? this.#limit(nowUs, 429) : this.#accept(MS, 50 * MS);
      case "unavailable":
        return random.chance(0.4) ? this.#limit(nowUs, 503) : this.#accept(MS, 50 * MS);
      case "crowded":
        return this.#inside(nowUs) >= this.#roomAtOnce
          ? this.#limit(nowUs, 429)
          : this.#accept(20 * MS, 300 * MS);
      case "flaky":
        return this.#flaky();
      case "down":
        return random.chance(0.5) ? this.#refuse(503) : { ...this.#refuse(0), kind: "hang_up" };
      default:
        return this.#accept(MS, 80 * MS);
    }
  }

  #flaky(): Reply {
    const random = this.#random;
    const x = random.next();
    if (x < 0.2) return this.#refuse(random.pick([500, 502, 408, 425]));
    if (x < 0.3) return { ...this.#accept(MS, 20 * MS), kind: "hang_up" };
    if (x < 0.4) return { ...this.#refuse(0), kind: "hang_up" };
    if (x < 0.5) return { ...this.#accept(MS, MS), kind: "silence", accepted: random.chance(0.5) };
    return this.#accept(MS, 600 * MS);
  }

  /** Requests that came lately and are still being worked on. */
  #inside(nowUs: Us): number {
    return this.received.filter(
      ({ arrivedUs, reply }) => reply.accepted && arrivedUs + reply.serviceUs > nowUs,
    ).length;
  }

  #accept(lowUs: number, highUs: number): Reply {
    const serviceUs = this.#random.skewed(lowUs, highUs);
    return {
      kind: "answer",
      status: this.#random.pick([200, 202, 204]),
      retryAfter: null,
      askedUs: null,
      serviceUs,
      accepted: true,
    };
  }

  #refuse(status: number): Reply {
    return {
      kind: "answer",
      status,
      retryAfter: null,
      askedUs: null,
      serviceUs: this.#random.int(MS, 20 * MS),
      accepted: false,
    };
  }

  #limit(nowUs: Us, status: number): Reply {
    const random = this.#random;
    const refusal = this.#refuse(status);
    const x = random.next();
    if (x < 0.25) return refusal;
    if (x < 0.35) return { ...refusal, retryAfter: random.pick(["soon", "-1", "0", "1e3"]) };
    const seconds = random.int(1, 2);
    const answeredUs = nowUs + refusal.serviceUs;
    if (x < 0.75) return { ...refusal, retryAfter: String(seconds), askedUs: seconds * SECOND };
    // A date has whole seconds: it may ask for a little less than intended.
    const dateUs = Math.floor((answeredUs + seconds * SECOND) / SECOND) * SECOND;
    return {
      ...refusal,
      retryAfter: new Date(dateUs / MS).toUTCString(),
      askedUs: Math.max(0, dateUs - answeredUs),
    };
  }
}
