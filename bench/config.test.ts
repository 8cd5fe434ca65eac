/** The bench's command line: what is given wins, sizes have bounds, nonsense is refused in one line. */
import { describe, expect, it } from "vitest";
import { optionsFor, readCommand } from "./config.ts";

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

  it("refuses a flag that it does not know", () => {
    expect(() => readCommand(["drain", "--fast"])).toThrow();
  });
});
