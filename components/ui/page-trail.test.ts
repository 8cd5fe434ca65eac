/** The way back through the pages of a list: only what was walked, in the list in which it was walked. */
import { expect, test } from "vitest";
import { MAX_STEPS, type PageStep, readTrail, stepBefore, withStep } from "./page-trail.ts";

const walked = (list: string, ...cursors: string[]): PageStep[] =>
  cursors.reduce<PageStep[]>(
    (trail, cursor, at) => withStep(trail, { list, cursor, before: cursors[at - 1] ?? null }),
    [],
  );

test("ux 2.6: the page before the third is the second, and before the second is the top", () => {
  const trail = walked("deliveries us", "c2", "c3");
  expect(stepBefore(trail, "deliveries us", "c3")).toBe("c2");
  expect(stepBefore(trail, "deliveries us", "c2")).toBeNull();
});

test("a page of a link that was opened as it is has no page before it", () => {
  expect(stepBefore([], "deliveries us", "c3")).toBeUndefined();
});

test("the same place in a list with another filter is another page", () => {
  const trail = [...walked("deliveries us", "c2", "c3"), ...walked("deliveries eu", "c3")];
  expect(stepBefore(trail, "deliveries us", "c3")).toBe("c2");
  expect(stepBefore(trail, "deliveries eu", "c3")).toBeNull();
});

test("the way that was walked last counts, and a page is never before itself", () => {
  const trail = withStep(walked("a", "c2", "c3"), { list: "a", cursor: "c3", before: null });
  expect(stepBefore(trail, "a", "c3")).toBeNull();
  expect(withStep(trail, { list: "a", cursor: "c9", before: "c9" })).toEqual(trail);
});

test("only the newest steps are kept, and nonsense in the storage is no step", () => {
  const cursors = Array.from({ length: MAX_STEPS + 5 }, (_, at) => `c${at}`);
  const trail = walked("a", ...cursors);
  expect(trail).toHaveLength(MAX_STEPS);
  expect(stepBefore(trail, "a", "c4")).toBeUndefined();
  expect(readTrail(JSON.stringify(trail))).toEqual(trail);
  expect(readTrail('[{"list":1},null,{"list":"a","cursor":"c","before":7}]')).toEqual([]);
  for (const text of [null, "", "{", '{"list":"a"}']) expect(readTrail(text)).toEqual([]);
});
