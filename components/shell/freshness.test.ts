/** The freshness of a page is that of its oldest panel, and silence of the console is never called live. */
import { describe, expect, test } from "vitest";
import { ProblemError, UnreachableError } from "#components/queries/fetch-json.ts";
import { STALE_AFTER_MS } from "#components/queries/live.tsx";
import { judge } from "./freshness.ts";

const NOW_MS = 1_000_000;
const fresh = { dataUpdatedAt: NOW_MS - 1_000, error: null };
const old = { dataUpdatedAt: NOW_MS - STALE_AFTER_MS - 33_000, error: null };
const never = { dataUpdatedAt: 0, error: null };
const problem = new ProblemError({
  title: "No",
  detail: "no",
  status: 500,
  code: "internal",
  correlationId: "x",
});

describe("judge", () => {
  test("a page without panels and one that has not been answered are loading", () => {
    expect(judge([], false, NOW_MS)).toEqual({ kind: "loading" });
    expect(judge([never], false, NOW_MS)).toEqual({ kind: "loading" });
  });

  test("one old panel makes the page stale, however fresh the others are", () => {
    expect(judge([fresh], false, NOW_MS)).toEqual({ kind: "live" });
    expect(judge([fresh, old], false, NOW_MS)).toEqual({ kind: "stale", ageSeconds: 48 });
  });

  test("a page that reads every minute is not stale after twenty seconds", () => {
    const slow = { dataUpdatedAt: NOW_MS - 20_000, error: null };
    expect(judge([slow], false, NOW_MS)).toMatchObject({ kind: "stale" });
    expect(judge([slow], false, NOW_MS, 180_000)).toEqual({ kind: "live" });
  });

  test("paused says how old the oldest panel is", () => {
    expect(judge([fresh, old], true, NOW_MS)).toEqual({ kind: "paused", ageSeconds: 48 });
  });

  test("a console that does not answer is offline; one that refuses is not", () => {
    expect(judge([{ ...fresh, error: new UnreachableError("gone") }], false, NOW_MS)).toEqual({
      kind: "offline",
    });
    expect(judge([{ ...fresh, error: problem }], false, NOW_MS)).toEqual({ kind: "live" });
    expect(judge([{ ...never, error: problem }], false, NOW_MS)).toEqual({ kind: "failed" });
  });
});
