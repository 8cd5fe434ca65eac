/** A control that is not allowed stays in sight with the reason in words, one sentence for all buttons that share it. */
import { describe, expect, it } from "vitest";
import { PERMISSIONS, permitsOf } from "#domain/permissions.ts";
import { groupReasons, refusalOf, sentence } from "./permit-words.ts";

const target = { region: "eu", tenantId: "t1" } as const;
const grant = { regions: ["eu"], tenantIds: null, canReveal: false, actions: null } as const;

describe("a refusal by role", () => {
  it("names the roles that may, as the server says it", () => {
    const permits = permitsOf([{ ...grant, role: "viewer" }], ["pause", "open_gate"], target);
    expect(refusalOf(permits, "pause")).toBe("Needs the role support or operator or admin, in this scope.");
    expect(refusalOf(permits, "open_gate")).toBe("Needs the role operator or admin, in this scope.");
  });

  it("is none where the role may", () => {
    const permits = permitsOf([{ ...grant, role: "admin" }], ["pause", "limits"], target);
    expect([refusalOf(permits, "pause"), refusalOf(permits, "limits")]).toEqual([null, null]);
  });

  it("is never missing for an action that the answer does not name", () => {
    for (const action of Object.keys(PERMISSIONS) as (keyof typeof PERMISSIONS)[]) {
      expect(refusalOf({}, action)).toMatch(/role/);
    }
  });
});

describe("reasons beside the buttons", () => {
  it("are said once for all buttons that share one", () => {
    const groups = groupReasons([
      { key: "pause", label: "Pause", reason: "Needs the role admin." },
      { key: "limits", label: "Limits", reason: "Needs the role admin." },
      { key: "gate", label: "Open gate now", reason: "The gate is not shut" },
      { key: "test", label: "Send test event", reason: null },
    ]);
    expect(groups).toEqual([
      { keys: ["pause", "limits"], text: "Pause, Limits: needs the role admin." },
      { keys: ["gate"], text: "Open gate now: the gate is not shut." },
    ]);
  });

  it("keep a region's name as it is", () => {
    expect(
      groupReasons([{ key: "a", label: "Pause", reason: "EU does not answer: No answer within 4 s." }])[0]
        ?.text,
    ).toBe("Pause: EU does not answer: No answer within 4 s.");
  });

  it("are sentences", () => {
    expect([sentence("a dead letter needs a reviewed batch"), sentence("Over."), sentence(null)]).toEqual([
      "A dead letter needs a reviewed batch.",
      "Over.",
      null,
    ]);
  });
});
