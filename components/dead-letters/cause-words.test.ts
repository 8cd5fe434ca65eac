/** DLQ-2 in words: what staff read in a row tells unreadable bodies from a destination that is down. */
import { describe, expect, test } from "vitest";
import { DEAD_CLASS, DEAD_REASONS } from "#domain/delivery.ts";
import { CLASS_WORDS, causeWords, codeText, lastHourWords } from "./cause-words.ts";

describe("causes", () => {
  test.each([
    ["rejected", 422, "rejected", "Bodies not accepted", "Receiver"],
    ["rejected", 400, "rejected", "Bodies not accepted", "Receiver"],
    ["rejected", 401, "rejected", "Not authorised", "Receiver"],
    ["rejected", 404, "rejected", "Address not found", "Receiver"],
    ["rejected", 418, "rejected", "Refused by the receiver", "Receiver"],
    ["attempts_exhausted", null, "network", "Destination down: no connection", "Exhausted"],
    ["attempts_exhausted", null, "timeout", "Destination down: no answer in time", "Exhausted"],
    ["attempts_exhausted", 503, "server_error", "Destination failing: server errors", "Exhausted"],
    ["payload_erased", null, "payload_erased", "Payload erased", "Poison"],
    ["worker_lost", null, "lease_expired", "Worker lost three times", "System"],
  ] as const)("%s %s %s reads %s, class %s", (reason, lastStatus, lastOutcome, title, label) => {
    expect(causeWords({ reason, lastStatus, lastOutcome }).title).toBe(title);
    expect(CLASS_WORDS[DEAD_CLASS[reason]].label).toBe(label);
  });

  test("every reason says what follows from it", () => {
    for (const reason of DEAD_REASONS) {
      const { title, hint } = causeWords({ reason, lastStatus: null, lastOutcome: null });
      expect(title).not.toBe("");
      expect(hint).toMatch(/\.$/);
    }
  });
});

test.each([
  [{ lastStatus: 422, lastOutcome: "rejected" }, "422"],
  [{ lastStatus: null, lastOutcome: "network", errorCode: "ECONNREFUSED" }, "ECONNREFUSED"],
  [{ lastStatus: null, lastOutcome: "timeout", errorCode: null }, "timeout"],
  [{ lastStatus: null, lastOutcome: "network", errorCode: null }, "network"],
  [{ lastStatus: null, lastOutcome: "payload_erased", errorCode: "payload_erased" }, "–"],
  [{ lastStatus: null, lastOutcome: null }, "–"],
])("the code of %j is %s", (row, text) => {
  expect(codeText(row)).toBe(text);
});

test("whether other deliveries succeed is a count of a count, and silence is not a failure", () => {
  expect(lastHourWords({ requests: 420, delivered: 412 })).toBe("412 of 420 delivered");
  expect(lastHourWords({ requests: 3, delivered: 0 })).toBe("0 of 3 delivered");
  expect(lastHourWords({ requests: 0, delivered: 0 })).toBe("no request");
});
