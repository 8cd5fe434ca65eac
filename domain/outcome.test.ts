import { describe, expect, it } from "vitest";
import {
  classify,
  OUTCOME_WORDS,
  type Outcome,
  type OutcomeClass,
  outcomeWord,
  requestMade,
  speaksAgainstDestination,
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

describe("speaksAgainstDestination", () => {
  const broken = { kind: "network", code: "ECONNRESET", phase: "headers" } as const;

  it.each<[string, Outcome, boolean]>([
    ["200", response(200), false],
    ["429", response(429), false],
    ["302", response(302), true],
    ["404", response(404), true],
    ["410", response(410), true],
    ["503", response(503), true],
    ["a timeout", { kind: "timeout", phase: "headers" }, true],
    ["a connection that broke", { ...broken, keptConnection: false }, true],
    ["fault 70: a kept connection that had died", { ...broken, keptConnection: true }, false],
    ["our own shutdown", { kind: "shutdown" }, false],
    ["a blocked address", { kind: "blocked", address: "127.0.0.1 (loopback)" }, false],
    ["a body that is gone", { kind: "payload_erased" }, false],
    ["a secret that cannot be used", { kind: "config_error" }, false],
  ])("fault 81: %s", (_name, outcome, expected) => {
    expect(speaksAgainstDestination(outcome, PLAIN)).toBe(expected);
  });

  it("fault 70: a kept connection that had died is ambiguous for the delivery all the same", () => {
    expect(classify({ ...broken, keptConnection: true }, PLAIN)).toBe("ambiguous");
  });
});
