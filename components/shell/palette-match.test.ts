/** The palette finds what a person means by the beginnings of its words, and a delivery by any text that carries its id. */
import { expect, test } from "vitest";
import { deliveryIdIn, fits, foundRows, silentRegions } from "./palette-match.ts";

const ID = `dlv_${"0a".repeat(16)}`;

test("every typed word must begin a word", () => {
  const page = { label: "Dead letters", words: "dlq failed" };
  expect(["", "dead", "let de", "DLQ"].map((text) => fits(page, text))).toEqual([true, true, true, true]);
  expect(["etters", "dead tenants"].map((text) => fits(page, text))).toEqual([false, false]);
});

test("a delivery is found in an id, an address and a log line, and nowhere else", () => {
  for (const text of [ID, `http://console/deliveries/${ID}?region=us`, `sent ${ID} in 12 ms`]) {
    expect(deliveryIdIn(text)).toBe(ID);
  }
  expect([deliveryIdIn(`x${ID}`), deliveryIdIn(`${ID}0`), deliveryIdIn("dlv_1")]).toEqual([null, null, null]);
});

test("rows lead to their page with their region; a region that did not answer is named, not empty", () => {
  const answer = {
    regions: [
      {
        region: "us" as const,
        status: "ok" as const,
        asOf: "2026-03-09T12:00:00.000Z",
        data: {
          tenants: [{ id: "ten_1", slug: "acme", name: "Acme" }],
          destinations: [{ id: "dst_1", name: "Ledger", host: "hooks.acme.example", tenantName: "Acme" }],
          deliveries: [{ id: ID, destinationName: "Ledger" }],
        },
      },
      { region: "eu" as const, status: "unavailable" as const, detail: "no answer" },
    ],
  };
  expect(foundRows(answer).map(({ group, label, href }) => [group, label, href])).toEqual([
    ["Tenants", "Acme", "/tenants/ten_1?region=us"],
    ["Destinations", "Acme: Ledger", "/destinations/dst_1?region=us"],
    ["Deliveries", "Delivery to Ledger", `/deliveries/${ID}`],
  ]);
  expect(silentRegions(answer)).toEqual(["EU"]);
});
