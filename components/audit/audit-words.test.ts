/** What an audit row says: where its target is, and what it changed. */
import { expect, test } from "vitest";
import { actionText, differencesOf, targetHref } from "./audit-words.ts";

test("CTL-4 the difference names every field of both sides, what changed first", () => {
  const rows = differencesOf({
    before: { weight: 1, paused: false, note: null },
    after: { weight: 1, paused: true, pausedBy: "user:ann", plan: { rate: 2 } },
  });
  expect(rows).toEqual([
    { field: "paused", before: "false", after: "true", changed: true },
    { field: "note", before: "none", after: null, changed: true },
    { field: "pausedBy", before: null, after: "user:ann", changed: true },
    { field: "plan", before: null, after: '{"rate":2}', changed: true },
    { field: "weight", before: "1", after: "1", changed: false },
  ]);
  expect(differencesOf({ before: null, after: null })).toEqual([]);
});

test.each([
  ["ten_1", "tenant", "/tenants/ten_1?region=eu"],
  ["dst_1", "destination", "/destinations/dst_1?region=eu"],
  ["dlv_1", "dead_letter", "/deliveries/dlv_1"],
  ["dlg_1", "dead_letter_group", "/dead-letters?region=eu&view=groups&group=dlg_1"],
  ["rpl_1", "replay_batch", "/replays/rpl_1?region=eu"],
  ["eu", "region", "/regions?region=eu"],
  ["pay_1", "payload", null],
  ["POST /api/v1/tokens", "request", null],
])("the target %s of kind %s is at %s", (target, targetKind, href) => {
  expect(targetHref({ target, targetKind, region: "eu" })).toBe(href);
});

test("actions read as words", () => {
  expect(actionText("dead_letter_group.will_not_replay")).toBe("dead letter group: will not replay");
});
