/** When a cause that was called resolved counts as resolved, as regressed, or as a new one. */
import { describe, expect, it } from "vitest";
import { readCommand } from "./commands.ts";
import { AssignGroup, GroupCommand, NoteGroup, WillNotReplayGroup } from "./dead-letter-commands.ts";
import { groupStateOf, REGRESSION_MS } from "./dead-letter-group.ts";
import { SluiceError } from "./errors.ts";

const RESOLVED_MS = 1_000_000;
const GROUP = `dlg_${"0".repeat(31)}1`;
const BASE = { groupId: GROUP, version: 1, reason: "the receiver has fixed its parser" };

describe("DLQ-2 the state that is shown", () => {
  it.each([
    ["nothing came after it", null, "resolved"],
    ["one came a millisecond after it", RESOLVED_MS + 1, "regressed"],
    ["one came exactly a day after it", RESOLVED_MS + REGRESSION_MS, "regressed"],
    ["one came later than a day after it", RESOLVED_MS + REGRESSION_MS + 1, "new"],
  ] as const)("resolved, and %s: %s -> %s", (_, firstAfterMs, shown) => {
    expect(
      groupStateOf({ stored: "resolved", resolvedMs: RESOLVED_MS, firstAfterMs, isReplaying: false }),
    ).toBe(shown);
  });

  it.each(["new", "acknowledged", "resolved"] as const)(
    "%s is replaying while a batch holds it",
    (stored) => {
      const facts = { resolvedMs: RESOLVED_MS, firstAfterMs: RESOLVED_MS + 1, isReplaying: true };
      expect(groupStateOf({ ...facts, stored })).toBe("replaying");
    },
  );

  it.each(["new", "acknowledged", "replaying"] as const)(
    "%s stays what a person made it, whatever comes",
    (stored) => {
      expect(
        groupStateOf({ stored, resolvedMs: null, firstAfterMs: RESOLVED_MS + 1, isReplaying: false }),
      ).toBe(stored);
    },
  );
});

describe("CTL-4 what may be asked for", () => {
  it("takes a cause, a version and a reason", () => {
    expect(readCommand(GroupCommand, BASE)).toMatchObject(BASE);
    expect(readCommand(AssignGroup, { ...BASE, assignee: null }).assignee).toBeNull();
    expect(readCommand(NoteGroup, { ...BASE, note: "  ask Ledger  " }).note).toBe("ask Ledger");
  });

  it.each([
    ["without a reason", GroupCommand, { ...BASE, reason: "" }, "bad_reason"],
    ["without a version", GroupCommand, { ...BASE, version: undefined }, "invalid_body"],
    ["with another kind of id", GroupCommand, { ...BASE, groupId: `dlv_${"0".repeat(32)}` }, "invalid_body"],
    ["with an unknown field", GroupCommand, { ...BASE, purge: true }, "invalid_body"],
    ["assigned to nobody's name", AssignGroup, { ...BASE, assignee: " " }, "invalid_body"],
    ["with a note without end", NoteGroup, { ...BASE, note: "x".repeat(2_001) }, "invalid_body"],
    ["marking without the moment of the count", WillNotReplayGroup, BASE, "invalid_body"],
  ])("is refused %s", (_, schema, input, code) => {
    const attempt = () => readCommand(schema, input);
    expect(attempt).toThrow(SluiceError);
    expect(attempt).toThrow(expect.objectContaining({ code }));
  });
});
