/** A view keeps filters and nothing else, and says itself who may be told of it. */
import { describe, expect, test } from "vitest";
import { MAX_VIEW_QUERY_CHARS, viewContent, viewReach } from "./saved-view.ts";

describe("what is kept", () => {
  test("filters in one order, without the place in the list; a relative range stays relative", () => {
    expect(viewContent("  Late  ones ", "state=delayed&cursor=abc&panel=dlv_1&range=6h&region=us")).toEqual({
      name: "Late ones",
      query: "range=6h&region=us&state=delayed",
      region: "us",
      namesRows: false,
    });
  });

  test("no filters at all is a view too", () => {
    expect(viewContent("All", "")).toMatchObject({ query: "", region: null, namesRows: false });
  });

  test.each(["tenant=acme", "destination=dst_1", "q=order-17", "group=dlg_1", "target=ten_1", "colour=blue"])(
    "%s could name a row",
    (query) => expect(viewContent("x", query).namesRows).toBe(true),
  );

  test.each([
    ["", "state=dead"],
    ["   ", "state=dead"],
    ["x".repeat(81), ""],
    ["a\u0000b", ""],
    ["x", "a".repeat(MAX_VIEW_QUERY_CHARS + 1)],
    ["x", "state=dead#elsewhere"],
  ])("the name %j with the query %j is refused", (name, query) => {
    expect(() => viewContent(name, query)).toThrow(expect.objectContaining({ code: "invalid_body" }));
  });
});

test("a reader with some tenants of a region sees its general views, and no view that names rows", () => {
  expect(viewReach({ us: null, eu: ["one"] })).toEqual({ regions: ["us", "eu"], whole: ["us"] });
  expect(viewReach({ eu: null })).toEqual({ regions: ["eu"], whole: ["eu"] });
});
