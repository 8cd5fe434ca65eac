/** DLQ-5: what is typed into a plan is what is sent, and what nobody touched goes back as it was stored. */
import { describe, expect, it } from "vitest";
import { DEFAULT_REPLAY_POLICY, type ReplayPlan, thresholdsOf } from "#domain/replay-plan.ts";
import { isPlanUnsaved, planDraftOf, planOf, planProblems } from "./plan-draft.ts";

const STORED: ReplayPlan = {
  ratePerSecond: null,
  concurrency: 2,
  attemptBudget: 1,
  startsAfter: null,
  endsBefore: null,
  stop: { ...thresholdsOf(DEFAULT_REPLAY_POLICY), dueLagMs: 59_999, failedShare: 1 / 7 },
};
const NOW = "2026-12-01T02:00:00.000Z";
const view = { plan: STORED, policy: { ...DEFAULT_REPLAY_POLICY, ...STORED.stop } };
const author = { mayLoosen: false, asOf: NOW };
const wrong = (problems: object) => Object.entries(problems).filter(([, problem]) => problem !== null);

describe("a plan", () => {
  it("goes back to the last digit when nobody touched it, and has nothing against it", () => {
    const draft = planDraftOf(STORED);
    expect(planOf(draft, STORED)).toEqual(STORED);
    expect(isPlanUnsaved(draft, STORED)).toBe(false);
    expect(wrong(planProblems(draft, view, author))).toEqual([]);
  });

  it("carries what was typed, and is unsaved until it is stored", () => {
    const draft = planDraftOf(STORED);
    const typed = {
      ...draft,
      rate: "0.5",
      endsBefore: "2026-12-01T04:00:00.000Z",
      stop: { ...draft.stop, dueLagMs: "30", failedShare: "5" },
    };
    const plan = planOf(typed, STORED);
    expect(plan).toMatchObject({ ratePerSecond: 0.5, endsBefore: "2026-12-01T04:00:00.000Z" });
    expect(plan.stop).toEqual({ ...STORED.stop, dueLagMs: 30_000, failedShare: 0.05 });
    expect(isPlanUnsaved(typed, STORED)).toBe(true);
    expect(isPlanUnsaved(typed, plan)).toBe(false);
    expect(isPlanUnsaved({ ...draft, concurrency: " 2 " }, STORED)).toBe(false);
    expect(isPlanUnsaved({ ...draft, rate: "x" }, STORED)).toBe(true);
  });

  it("refuses an end that has passed or comes before its beginning, and a looser threshold", () => {
    const draft = planDraftOf(STORED);
    const endOf = (change: object) => planProblems({ ...draft, ...change }, view, author).endsBefore;
    expect(endOf({ endsBefore: NOW })).toMatch(/lie ahead/);
    expect(
      endOf({ startsAfter: "2026-12-01T05:00:00.000Z", endsBefore: "2026-12-01T04:00:00.000Z" }),
    ).toMatch(/after the beginning/);
    const looser = { ...draft, stop: { ...draft.stop, dueLagMs: "60" } };
    expect(planProblems(looser, view, author).dueLagMs).toMatch(/administrator/);
    expect(planProblems(looser, view, { ...author, mayLoosen: true }).dueLagMs).toBeNull();
  });
});
