import { describe, expect, it } from "vitest";
import {
  classify,
  OUTCOME_WORDS,
  type Outcome,
  type OutcomeClass,
  outcomeWord,
  requestMade,
} from "./outcome.ts";

const PLAIN = { permanentStatuses: [] };

function response(status: number): Outcome {
  return { kind: "response", status, retryAfterHeader: null, durationMs: 1 };
}

describe("outcome", () => {
  it("RETRY-2 only 200 to 299 is delivered", () => {
    for (let status = 100; status <= 999; status += 1) {
      const delivered = classify(response(status), PLAIN) === "delivered";
      expect(delivered, String(status)).toBe(status >= 200 && status <= 299);
    }
  });

  const rows: [number, OutcomeClass][] = [
    [101, "transient"],
    [300, "redirect"],
    [302, "redirect"],
    [304, "redirect"],
    [307, "redirect"],
    [399, "redirect"],
    [400, "permanent"],
    [401, "permanent"],
    [403, "permanent"],
    [404, "permanent"],
    [405, "permanent"],
    [408, "transient"],
    [409, "transient"],
    [410, "gone"],
    [413, "permanent"],
    [415, "permanent"],
    [422, "permanent"],
    [425, "transient"],
    [429, "throttled"],
    [499, "permanent"],
    [500, "transient"],
    [501, "transient"],
    [502, "transient"],
    [503, "transient"],
    [504, "transient"],
    [505, "transient"],
    [599, "transient"],
    [600, "transient"],
    [999, "transient"],
  ];
  it.each(rows)("RETRY-8 status %i is %s", (status, expected) => {
    expect(classify(response(status), PLAIN)).toBe(expected);
  });

  it("RETRY-8 a policy can make 501, 505 and other retried statuses permanent, but never a 429 or a 2xx", () => {
    const strict = { permanentStatuses: [408, 501, 505, 429, 200] };
    expect([408, 501, 505].map((status) => classify(response(status), strict))).toEqual(
      Array.from({ length: 3 }, () => "permanent"),
    );
    expect(classify(response(502), strict)).toBe("transient");
    expect(classify(response(429), strict)).toBe("throttled");
    expect(classify(response(200), strict)).toBe("delivered");
  });

  const others: [Outcome, OutcomeClass, string, boolean][] = [
    [{ kind: "network", code: "ECONNRESET", phase: "headers" }, "ambiguous", "network", true],
    [{ kind: "network", code: "ENOTFOUND", phase: "dns" }, "ambiguous", "network", true],
    [{ kind: "timeout", phase: "body", durationMs: 10_000 }, "ambiguous", "timeout", true],
    [{ kind: "shutdown" }, "interrupted", "shutdown", true],
    [{ kind: "blocked", address: "169.254.169.254" }, "blocked", "blocked_address", false],
    [{ kind: "bad_destination" }, "bad_destination", "bad_destination", false],
    [{ kind: "payload_erased" }, "erased", "payload_erased", false],
    [{ kind: "config_error", detail: "secret" }, "config_error", "config_error", false],
  ];
  it.each(others)("RETRY-10 %j is %s, stored as %s", (outcome, expectedClass, word, sent) => {
    expect(classify(outcome, PLAIN)).toBe(expectedClass);
    expect(outcomeWord(outcome, PLAIN)).toBe(word);
    expect(requestMade(outcome)).toBe(sent);
  });

  it("RETRY-7 every status is stored under a word of the list", () => {
    expect(outcomeWord(response(204), PLAIN)).toBe("delivered");
    expect(outcomeWord(response(429), PLAIN)).toBe("rate_limited");
    expect(outcomeWord(response(409), PLAIN)).toBe("transient_status");
    expect(outcomeWord(response(503), PLAIN)).toBe("server_error");
    expect(outcomeWord(response(403), PLAIN)).toBe("rejected");
    expect(outcomeWord(response(409), { permanentStatuses: [409] })).toBe("rejected");
    for (let status = 100; status <= 999; status += 1) {
      expect(OUTCOME_WORDS).toContain(outcomeWord(response(status), PLAIN));
    }
  });
});
