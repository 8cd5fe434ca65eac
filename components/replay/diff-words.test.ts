/** The second person reads a change in words and units, and never loses one that has no words. */
import { describe, expect, it } from "vitest";
import { fieldWords, isMoment, valueWords } from "./diff-words.ts";

const LANES = [{ destinationId: "dst_000000abcdef", destinationName: "Ledger" }];

describe("what was changed", () => {
  it.each([
    ["rootCause", "v2 bodies", "Root cause", "v2 bodies"],
    ["plan.ratePerSecond", 0.5, "Rate of each destination", "0.5/s"],
    ["plan.stop.dueLagMs", 60_000, "Stop condition: Oldest due but unclaimed", "1 m"],
    ["plan.stop.failedShare", 0.2, "Stop condition: Failure share", "20 %"],
    ["plan.stop.equalFailures", 5, "Stop condition: Equal failures in a row of a destination", "5"],
    ["lanes.dst_000000abcdef", 1, "Rate of Ledger", "1/s"],
    ["lanes.dst_000000123456", null, "Rate of …123456", "nothing"],
    ["checklist.dedup.yes", false, "Does the receiver recognise our id or key?", "No"],
    ["checklist.dedup.evidence", "seen", "Does the receiver recognise our id or key? Evidence", "seen"],
    [
      "checklist.dedup",
      { yes: true, evidence: "seen" },
      "Does the receiver recognise our id or key?",
      "Yes: seen",
    ],
  ])("%s", (field, value, name, words) => {
    expect(fieldWords(field, LANES)).toBe(name);
    expect(valueWords(field, value)).toBe(words);
  });

  it("knows the fields whose value is a moment", () => {
    expect(["plan.startsAfter", "plan.endsBefore", "reason", "plan.concurrency"].map(isMoment)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("shows what it has no words for as it is", () => {
    expect(fieldWords("plan.stop.later", LANES)).toBe("plan.stop.later");
    expect(fieldWords("checklist.later.yes", LANES)).toBe("checklist.later.yes");
    expect(valueWords("plan.later", { a: 1 })).toBe('{"a":1}');
  });
});
