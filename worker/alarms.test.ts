/** What the health page says beside its numbers, and the memory of claims behind one of them. */
import { describe, expect, it } from "vitest";
import { Alarms, ClaimTimes } from "./alarms.ts";

describe("alarms", () => {
  it("stand until all is well again, each once", () => {
    const alarms = new Alarms();
    alarms.set("partitions", "one");
    alarms.set("partitions", "two");
    alarms.set("xmin_horizon", "old");
    expect(alarms.list()).toEqual([
      { name: "partitions", text: "two" },
      { name: "xmin_horizon", text: "old" },
    ]);
    alarms.set("partitions", null);
    expect(alarms.list()).toEqual([{ name: "xmin_horizon", text: "old" }]);
  });
});

describe("the times of claims", () => {
  it("say nothing while there are few, and then what 95 of 100 stayed under", () => {
    const times = new ClaimTimes();
    for (let ms = 1; ms <= 19; ms++) times.add(ms);
    expect(times.p95Ms()).toBeNull();
    for (let ms = 20; ms <= 100; ms++) times.add(ms);
    expect(times.p95Ms()).toBe(95);
  });

  it("are those of the last claims only", () => {
    const times = new ClaimTimes();
    for (let n = 0; n < 1_000; n++) times.add(900);
    for (let n = 0; n < 128; n++) times.add(1);
    expect(times.p95Ms()).toBe(1);
    times.forget();
    expect(times.p95Ms()).toBeNull();
  });
});
