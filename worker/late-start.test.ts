/** A request must not leave after its deadline: a process that was stopped may hear of its connection before its timer. */
import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";
import { CutOff } from "./cut-off.ts";
import { exchange } from "./exchange.ts";
import { systemTimers } from "./timers.ts";

const REQUEST = {
  origin: "https://example.com",
  path: "/",
  headers: [],
  body: Buffer.from("{}"),
  deadlineMs: 10_000,
};

/** A client whose connection stands after so long, by a clock that only it moves. */
function afterWaiting(waitMs: number): { result: ReturnType<typeof exchange>; wasAborted: () => boolean } {
  let monotonicMs = 500;
  let aborted = false;
  const controller = { abort: () => (aborted = true) } as unknown as Dispatcher.DispatchController;
  const client = {
    dispatch: (_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
      monotonicMs += waitMs;
      handler.onRequestStart?.(controller, {});
      if (!aborted) {
        handler.onResponseStart?.(controller, 204, {});
        handler.onResponseEnd?.(controller, {});
      }
      return true;
    },
  };
  const timers = { ...systemTimers, monotonicMs: () => monotonicMs };
  return { result: exchange(client, REQUEST, new CutOff(), timers), wasAborted: () => aborted };
}

describe("a request that waited for its connection", () => {
  it("LEASE-3 is not sent once its deadline has passed, although no timer has fired yet", async () => {
    const late = afterWaiting(10_000);
    expect(await late.result).toEqual({ kind: "timeout", phase: "connect" });
    expect(late.wasAborted()).toBe(true);
  });

  it("is sent as long as its deadline is ahead", async () => {
    const early = afterWaiting(9_999);
    expect(await early.result).toMatchObject({ kind: "response", status: 204 });
    expect(early.wasAborted()).toBe(false);
  });
});
