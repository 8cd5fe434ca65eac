import { describe, expect, it } from "vitest";
import { readHttpDate } from "#domain/retry-after.ts";
import { AnswerSyntaxError, formatHttpDate, parseAnswer, parsePath, parseScript } from "./answers.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00.250Z");

describe("RECV-5 paths", () => {
  it.each([
    ["/ok/acme", "acme"],
    ["/ok/us/acme/orders", "us/acme/orders"],
    ["/status/500/acme?times=2", "acme"],
    ["/status/500", "status/500"],
    ["/429/seconds/3/acme", "acme"],
    ["/429/date/3", "429/date/3"],
    ["/429/malformed", "429/malformed"],
    ["/limit/0.5/2/acme", "acme"],
    ["/script/429:3,200/acme", "acme"],
    ["/redirect/302/acme", "acme"],
    ["/redirected/acme", "redirected/acme"],
  ])("%s is counted under %s", (path, destination) => {
    expect(parsePath(path).destination).toBe(destination);
  });

  it.each([
    "/",
    "/nothing/acme",
    "/ok/",
    "/ok/a b",
    "/ok/a%20b",
    "/ok//a",
    "/ok/acme?time=2",
    "/ok/acme?ms=-1",
    "/ok/acme?ms=1e3",
    "/status/abc/acme",
    "/status/199/acme",
    "/reject/500/acme",
    "/429/acme",
    "/429/seconds/soon/acme",
    "/429/date/1/acme?form=iso",
    "/429/malformed/acme?value=a%0d%0ab",
    "/limit/0/1/acme",
    "/limit/5/0/acme",
    "/concurrency/0/acme",
    "/script/200",
    "/script/200,wat/acme",
    "/__proto__/acme",
    "/constructor/acme",
  ])("refuses %s, so that a mistyped path cannot pass as another", (path) => {
    expect(() => parsePath(path)).toThrow(AnswerSyntaxError);
  });

  it("gives a fault for ever unless told, and a hang-up once per key", () => {
    expect(parsePath("/429/none/a").times).toBe(Number.POSITIVE_INFINITY);
    expect(parsePath("/429/none/a?times=2").times).toBe(2);
    expect(parsePath("/hangup/a").times).toBe(1);
    expect(parsePath("/hangup/a?times=always").times).toBe(Number.POSITIVE_INFINITY);
    expect(parsePath("/429/none/a?per=request").per).toBe("request");
  });

  it("applies an effect with 2xx only", () => {
    for (const [status, effect] of [
      [200, true],
      [204, true],
      [299, true],
      [302, false],
      [404, false],
      [500, false],
    ] as const) {
      expect(parsePath(`/status/${status}/a`).fault?.effect).toBe(effect);
    }
  });
});

describe("RECV-5 scripts", () => {
  it("reads numbers, words and fields", () => {
    const [throttled, dated, rejected, cut, slow] = parseScript([
      "429:3",
      { status: 503, retryAfter: { dateInSeconds: 5, form: "rfc850" } },
      404,
      "hangup",
      "slow:500",
    ]);
    expect(throttled).toMatchObject({
      status: 429,
      retryAfter: { as: "seconds", seconds: 3 },
      effect: false,
    });
    expect(dated).toMatchObject({ status: 503, retryAfter: { as: "date", inSeconds: 5, form: "rfc850" } });
    expect(rejected).toMatchObject({ status: 404, retryAfter: null });
    expect(cut).toMatchObject({ kind: "hangup", effect: true });
    expect(slow).toMatchObject({ status: 200, delayMs: 500, effect: true });
  });

  it("sends a Retry-After that is no number as it is", () => {
    expect(parseAnswer("429:soon").retryAfter).toEqual({ as: "text", text: "soon" });
    expect(parseAnswer({ status: 429, retryAfter: "-5" }).retryAfter).toEqual({ as: "text", text: "-5" });
  });

  it.each([["wat"], ["99"], [600], [20.5], ["slow"], [{ status: 200, delayMs: -1 }], ["toString"]])(
    "refuses %j",
    (answer) => {
      expect(() => parseAnswer(answer)).toThrow(AnswerSyntaxError);
    },
  );
});

describe("RETRY-4 HTTP dates", () => {
  it.each(["imf", "rfc850", "asctime"] as const)(
    "writes %s so that the sender's strict reader agrees",
    (form) => {
      const textForm = formatHttpDate(NOW_MS + 120_000, form);
      // Rounded up to the next second: the receiver never asks for less than it was told to.
      expect(readHttpDate(textForm, NOW_MS)).toBe(Date.parse("2026-11-30T12:02:01Z"));
    },
  );

  it("pads a one-digit day of the asctime form with a blank", () => {
    expect(formatHttpDate(Date.parse("2026-12-01T00:00:00Z"), "asctime")).toBe("Tue Dec  1 00:00:00 2026");
  });
});
