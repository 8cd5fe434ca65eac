/** DLQ-4: a selection is exactly what was asked for, and never everything. */
import { describe, expect, it } from "vitest";
import { draftFromFilters, MAX_TICKED, newReplayPath, selectionOf } from "./selection.ts";

const hex = "0".repeat(32);
const [tenant, destination, group, delivery] = [`ten_${hex}`, `dst_${hex}`, `dlg_${hex}`, `dlv_${hex}`];
const AS_OF = "2026-11-30T12:00:00.000Z";

const addressOf = (path: string) => Object.fromEntries(new URL(path, "http://console").searchParams);

describe("selectionOf", () => {
  it("reads a cause, ticked rows, a filter and a follow-up", () => {
    expect(selectionOf({ group, until: AS_OF })).toEqual({ groupId: group, until: AS_OF });
    expect(selectionOf({ ids: `${delivery},${delivery}` })).toEqual({ ids: [delivery, delivery] });
    expect(selectionOf({ tenant, reason: "gone", from: AS_OF })).toEqual({
      filter: { tenantId: tenant, reason: "gone", from: AS_OF },
    });
    expect(selectionOf({ follow: `rpl_${hex}` })).toEqual({ deadAgainOf: `rpl_${hex}` });
  });

  it.each([
    {},
    { from: AS_OF, until: AS_OF },
    { tenant: "summit" },
    { destination: "dst_1" },
    { reason: "bad luck" },
    { group: "dlg_x" },
    { ids: "dlv_1" },
    { ids: Array.from({ length: MAX_TICKED + 1 }, () => delivery).join(",") },
    { follow: "rpl_1" },
    // A wrong part is never left out: that would be more than was asked for.
    { tenant, reason: "bad luck" },
  ])("%j selects nothing", (address) => {
    expect(selectionOf(address)).toBeNull();
  });
});

describe("draftFromFilters", () => {
  it("makes a relative time absolute, and ends at what the list showed", () => {
    const { path } = draftFromFilters("us", { region: "us", reason: "gone", range: "1h" }, AS_OF, null);
    expect(addressOf(path ?? "")).toEqual({
      region: "us",
      reason: "gone",
      from: "2026-11-30T11:00:00.000Z",
      until: AS_OF,
    });
  });

  it("takes the tenant's id for its slug", () => {
    const { path } = draftFromFilters("eu", { tenant: "summit", destination }, AS_OF, tenant);
    expect(addressOf(path ?? "")).toMatchObject({ region: "eu", tenant, destination });
  });

  it.each([
    [{}, /never everything/],
    [{ range: "1h" }, /never everything/],
    [{ tenant: "summit", code: "4xx" }, /Code/],
    [{ cause: "rejected", code: "4xx" }, /Class and Code/],
    [{ group, reason: "gone" }, /as a whole/],
    [{ tenant: "nobody" }, /not known/],
    [{ reason: "gone", marked: "yes" }, /in no batch/],
    // A filter of a later version is not left out in silence.
    [{ reason: "gone", weekday: "monday" }, /weekday/],
  ])("%j is refused with the reason", (filters, words) => {
    const draft = draftFromFilters("us", filters, AS_OF, null);
    expect(draft.path).toBeNull();
    expect(draft.refusal).toMatch(words);
  });

  it("leads from a path back to the same selection", () => {
    const address = { group, until: AS_OF };
    const { searchParams } = new URL(newReplayPath("us", address), "http://console.example");
    expect(selectionOf(Object.fromEntries(searchParams))).toEqual({ groupId: group, until: AS_OF });
  });
});
