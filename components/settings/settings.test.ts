/** The words and checks of the settings. */
import { describe, expect, test } from "vitest";
import { DEFAULT_POLICY } from "#domain/policy.ts";
import { scopeWords } from "./grant-words.ts";
import { hasErrors, personErrors } from "./person-draft.ts";
import { policyRows } from "./policy-words.ts";
import { reasonError } from "./reason.ts";
import { actionsOf, bodyOf, EMPTY_TOKEN, findErrors } from "./token-fields.tsx";

test("a grant says role, regions, tenants and bodies", () => {
  expect(scopeWords({ role: "operator", regions: ["us", "eu"], tenants: 2, canReveal: true })).toBe(
    "Operator in US and EU, 2 tenants, sees bodies",
  );
  expect(scopeWords({ role: "viewer", regions: ["eu"], tenants: null, canReveal: false })).toBe(
    "Viewer in EU",
  );
});

test("a reason is long enough without its blanks", () => {
  expect(reasonError("   short    ")).toContain("at least 10");
  expect(reasonError("asked for in a ticket")).toBeNull();
  expect(reasonError("x".repeat(501))).toContain("under 500");
});

test("a new person needs an address, a name and a reason, blanks apart", () => {
  const whole = {
    email: " ann@example.com ",
    name: "Ann",
    way: "invite",
    reason: "joins the team today",
  } as const;
  expect(hasErrors(personErrors(whole))).toBe(false);
  expect(personErrors({ ...whole, email: "ann at example" }).email).toContain("e-mail address");
  expect(personErrors({ ...whole, name: "  " }).name).toContain("name");
  expect(personErrors({ ...whole, reason: "short" }).reason).toContain("at least 10");
});

describe("a new token", () => {
  test("never offers bodies, tokens or grants, whatever the role", () => {
    for (const role of ["viewer", "support", "operator", "admin"] as const) {
      for (const action of ["reveal_body", "service_tokens", "access"] as const) {
        expect(actionsOf(role)).not.toContain(action);
      }
    }
  });

  test("sends no action that its role does not have, although it was ticked under another role", () => {
    const values = { ...EMPTY_TOKEN, role: "viewer", scopes: ["read", "cancel"] } as const;
    expect(bodyOf(values)).toMatchObject({ role: "viewer", scopes: ["read"], days: 30 });
    expect(findErrors({ ...values, scopes: ["cancel"] }).scopes).toContain("at least one");
  });

  test("needs a name, a region and a reason", () => {
    expect(findErrors(EMPTY_TOKEN)).toEqual({
      name: expect.stringContaining("lower case"),
      scopes: null,
      scope: expect.stringContaining("region"),
      reason: expect.stringContaining("reason"),
    });
  });
});

describe("policies", () => {
  test("a policy that cannot be used is said to be so in every row", () => {
    const unusable = {
      serviceClass: "urgent" as const,
      version: 3,
      changedBy: null,
      changedAt: null,
      reason: null,
      retry: null,
      builtIn: DEFAULT_POLICY.urgent,
      history: [],
    };
    const rows = policyRows([
      unusable,
      { ...unusable, serviceClass: "routine", retry: DEFAULT_POLICY.routine },
    ]);
    expect(rows.every(({ values }) => values[0] === "cannot be used")).toBe(true);
    expect(rows.find(({ what }) => what.startsWith("Failures"))?.values[1]).toBe("8");
  });
});
