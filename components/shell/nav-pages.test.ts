/** Which filter goes along when somebody moves to another page. */
import { expect, test } from "vitest";
import { regionSuffix } from "./nav-pages.ts";

test("the region that was chosen goes along between pages of all regions, and to lists of one", () => {
  expect(regionSuffix("eu", "/", "/tenants")).toBe("?region=eu");
  expect(regionSuffix("eu", "/tenants", "/deliveries")).toBe("?region=eu");
  expect(regionSuffix("us", "/deliveries", "/audit")).toBe("?region=us");
});

test("the region of one thing, or of a list, hides no other region on a page of all", () => {
  expect(regionSuffix("eu", "/tenants/ten_1", "/")).toBe("");
  expect(regionSuffix("eu", "/deliveries", "/regions")).toBe("");
  expect(regionSuffix("eu", "/tenants/ten_1", "/dead-letters")).toBe("?region=eu");
});

test("what is no region, or a page without one, has none", () => {
  expect(regionSuffix(null, "/", "/tenants")).toBe("");
  expect(regionSuffix("mars", "/", "/tenants")).toBe("");
  expect(regionSuffix("eu", "/", "/settings")).toBe("");
});
