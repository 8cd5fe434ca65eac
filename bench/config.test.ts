/** The bench's command line: what is given wins, sizes have bounds, nonsense is refused in one line. */
import { describe, expect, it } from "vitest";
import { givenConsoleUrls, optionsFor, readCommand } from "./config.ts";

describe("the bench's arguments", () => {
  it("runs everything by default", () => {
    expect(readCommand([])).toMatchObject({ scenario: "all", json: false, out: null, given: {} });
  });

  it("lets the command line win over the scenario and the scenario over the general sizes", () => {
    const { given, givenArgs } = readCommand(["soak", "--json", "--minutes", "2", "--no-peers"]);
    expect(optionsFor({ minutes: 30, slots: 512 }, given)).toMatchObject({
      minutes: 2,
      slots: 512,
      rounds: 5,
      peers: false,
    });
    expect(givenArgs).toEqual(["--minutes", "2", "--no-peers"]);
  });

  it.each([
    [["drain", "--rounds", "0"], "--rounds"],
    [["drain", "--rounds", "26"], "--rounds"],
    [["drain", "--rounds", "1.5"], "--rounds"],
    [["drain", "--deliveries", ""], "--deliveries"],
    [["drain", "latency"], "one scenario"],
  ])("refuses %j", (args, word) => {
    expect(() => readCommand(args)).toThrow(word);
  });

  it("seeds only, or measures what was seeded before", () => {
    const { given, givenArgs } = readCommand(["console", "--seed-only", "--live", "5000"]);
    expect(given).toEqual({ seedOnly: true, live: 5_000 });
    expect(givenArgs).toEqual(["--live", "5000", "--seed-only"]);
    expect(readCommand(["console", "--seeded"]).given).toEqual({ seeded: true });
    expect(() => givenConsoleUrls({ DATABASE_URL_US: "postgres://u@127.0.0.1/x" })).toThrow(
      /DATABASE_URL_EU/,
    );
  });

  it("refuses a flag that it does not know", () => {
    expect(() => readCommand(["drain", "--fast"])).toThrow();
  });
});
