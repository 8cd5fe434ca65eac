/**
 * The HTTP world as undici's dispatcher: the shipped sender writes its requests here and hears what a socket would
 * tell it. A request that has left arrives even when its process dies; an answer to a dead process goes nowhere.
 */
import type { Dispatcher } from "undici";
import { fromPublicId } from "#domain/ids.ts";
import type { SeededRandom } from "#sim/random.ts";
import type { Owner, Scheduler, Us } from "#sim/scheduler.ts";
import type { HttpClient } from "#worker/parts.ts";
import type { Receiver, Reply } from "./receiver.ts";
import type { Weather } from "./weather.ts";

const MS = 1_000;
const WAY_US = { low: 200, high: 20 * MS };
const NEW_CONNECTION_CHANCE = 0.3;
/** Longest way to a new connection: name, TCP, TLS. */
const CONNECT_US = 150 * MS;

/** A request as it leaves a process. */
export interface Sent {
  readonly atUs: Us;
  /** When it was handed to the client: its deadline counts from here, the way to a connection included. */
  readonly begunUs: Us;
  readonly origin: string;
  readonly deliveryId: string;
  readonly key: string;
  readonly region: string;
  readonly attempt: number;
  readonly body: string;
}

export interface Wire {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly owner: Owner;
  readonly weather: () => Weather;
  readonly receiverAt: (origin: string) => Receiver | undefined;
  readonly onConnecting: () => void;
  /** Told of each request as it leaves, and of each answer as the receiver gives it. */
  readonly onSent: (sent: Sent) => void;
  readonly onReply: (sent: Sent, reply: Reply, atUs: Us) => void;
  /** The sender has its end of it: an answer, an error, or it cut the request off. */
  readonly onClosed: (sent: Sent) => void;
}

/** The client of one process. */
export function simulatedHttp(wire: Wire): HttpClient {
  return {
    dispatch(options, handler) {
      new Exchange(wire, options, handler).begin();
      return true;
    },
    close: () => Promise.resolve(),
  } as HttpClient;
}

class Exchange {
  #aborted = false;
  #sent: Sent | null = null;
  #begunUs: Us = 0;
  readonly #wire: Wire;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #controller: Dispatcher.DispatchController;

  constructor(wire: Wire, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.#wire = wire;
    this.#options = options;
    this.#handler = handler;
    const abort = () => {
      this.#aborted = true;
      this.#close();
    };
    this.#controller = {
      abort,
      aborted: false,
      paused: false,
      reason: null,
      pause() {},
      resume() {},
    } as unknown as Dispatcher.DispatchController;
  }

  /** A kept connection takes the request at once, a new one once it stands. */
  begin(): void {
    const { scheduler, random, owner } = this.#wire;
    this.#begunUs = scheduler.nowUs;
    if (!random.chance(NEW_CONNECTION_CHANCE)) {
      this.#write();
      return;
    }
    this.#wire.onConnecting();
    scheduler.after(random.skewed(WAY_US.low, CONNECT_US), owner, () => this.#write());
  }

  #write(): void {
    const { scheduler, random, weather } = this.#wire;
    this.#handler.onRequestStart?.(this.#controller, {});
    if (this.#aborted) return;
    const sent = readRequest(this.#options, scheduler.nowUs, this.#begunUs);
    this.#sent = sent;
    this.#wire.onSent(sent);
    scheduler.after(random.skewed(WAY_US.low, WAY_US.high), null, () => {
      const receiver = this.#wire.receiverAt(sent.origin);
      if (receiver === undefined) {
        this.#break("ECONNREFUSED");
        return;
      }
      const reply = receiver.receive(scheduler.nowUs, sent, weather().receiversFail);
      this.#wire.onReply(sent, reply, scheduler.nowUs + reply.serviceUs);
      scheduler.after(reply.serviceUs, null, () => this.#answer(reply));
    });
  }

  #answer(reply: Reply): void {
    if (reply.kind === "silence") return;
    if (reply.kind === "hang_up") {
      this.#break("ECONNRESET");
      return;
    }
    this.#back(() => {
      const headers = reply.retryAfter === null ? {} : { "retry-after": reply.retryAfter };
      this.#handler.onResponseStart?.(this.#controller, reply.status, headers);
      this.#handler.onResponseEnd?.(this.#controller, {});
    });
  }

  #break(code: string): void {
    this.#back(() =>
      this.#handler.onResponseError?.(this.#controller, Object.assign(new Error(code), { code })),
    );
  }

  #back(tell: () => void): void {
    const { scheduler, random, owner } = this.#wire;
    scheduler.after(random.skewed(WAY_US.low, WAY_US.high), owner, () => {
      if (this.#aborted) return;
      this.#close();
      tell();
    });
  }

  #close(): void {
    if (this.#sent !== null) this.#wire.onClosed(this.#sent);
    this.#sent = null;
  }
}

function readRequest(options: Dispatcher.DispatchOptions, atUs: Us, begunUs: Us): Sent {
  const list = options.headers as string[];
  const header = (name: string): string => {
    const at = list.findIndex((text, index) => index % 2 === 0 && text === name);
    const value = at === -1 ? undefined : list[at + 1];
    if (value === undefined) throw new Error(`a request without ${name}`);
    return value;
  };
  return {
    atUs,
    begunUs,
    origin: String(options.origin),
    deliveryId: fromPublicId("dlv", header("webhook-id")),
    key: header("idempotency-key"),
    region: header("sluice-region"),
    attempt: Number(header("sluice-attempt")),
    body: String(options.body),
  };
}
