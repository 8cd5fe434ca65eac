/** Upkeep goes on after a bad moment, never overlaps itself, and ends when it is told to. */
import { describe, expect, it } from "vitest";
import { waitFor } from "#tests/support/wait-for.ts";
import { captureLog } from "#tests/support/worker-run.ts";
import { Repeat } from "./repeat.ts";

describe("Repeat", () => {
  it("runs again after a failure, which is logged with its name", async () => {
    const { log, lines } = captureLog();
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs === 1) throw new Error("a bad moment");
    };
    const repeat = new Repeat("errand", 1, work, log, () => 42);
    repeat.start(0);
    await waitFor(() => runs >= 3);
    expect(repeat.lastOkAt).toBe(42);
    await repeat.stop();
    expect(lines()).toMatchObject([{ event: "upkeep_failed", upkeep: "errand" }]);
  });

  it("never runs twice at once, and a stop waits for the present run and allows no other", async () => {
    const { log } = captureLog();
    let running = 0;
    let most = 0;
    let ended = 0;
    let release: () => void = () => {};
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      running -= 1;
      ended += 1;
    };
    const repeat = new Repeat("errand", 0, work, log, () => 0);
    repeat.start();
    await waitFor(() => running === 1);
    release();
    await waitFor(() => ended === 1 && running === 1);
    let stopped = false;
    const stop = repeat.stop().then(() => {
      stopped = true;
    });
    await Promise.resolve();
    expect(stopped).toBe(false);
    release();
    await stop;
    expect([ended, running, most]).toEqual([2, 0, 1]);
    repeat.start(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(running).toBe(0);
  });
});
