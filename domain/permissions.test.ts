/** The whole table of roles and actions, walked cell by cell against a copy written by hand, and the scopes around it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ACTIONS,
  type Action,
  allowanceOf,
  contains,
  covers,
  EVERYWHERE,
  type Grant,
  isAction,
  isRole,
  PERMISSIONS,
  ROLES,
  type Role,
  refusal,
  regionsOf,
  requirePermit,
  scopeOf,
  tenantsIn,
} from "./permissions.ts";
import { REGIONS } from "./region.ts";

/** viewer, support, operator, admin. "-" no; "y" yes; else the condition under which yes. */
const TABLE: Readonly<Record<Action, readonly [string, string, string, string]>> = {
  read: ["y", "y", "y", "y"],
  export: ["y", "y", "y", "y"],
  reveal_body: ["-", "reveal", "reveal", "reveal"],
  dead_letter_triage: ["-", "y", "y", "y"],
  will_not_replay: ["-", "y", "y", "y"],
  pause: ["-", "14400000", "604800000", "2592000000"],
  retry_now: ["-", "y", "y", "y"],
  test_event: ["-", "y", "y", "y"],
  cancel: ["-", "-", "y", "y"],
  erase_payload: ["-", "-", "y", "y"],
  destination_disable: ["-", "-", "y", "y"],
  rotate_secret: ["-", "-", "y", "y"],
  hand_over: ["-", "-", "y", "y"],
  open_gate: ["-", "-", "y", "y"],
  limits: ["-", "lower", "within_policy", "y"],
  region_claims: ["-", "-", "typed", "typed"],
  replay_draft: ["-", "y", "y", "y"],
  replay_approve: ["-", "-", "y", "y"],
  replay_start: ["-", "own_approved", "y", "y"],
  replay_stop: ["-", "y", "y", "y"],
  replay_lower_rate: ["-", "y", "y", "y"],
  replay_raise_rate: ["-", "-", "-", "y"],
  break_glass: ["-", "-", "-", "y"],
  policies: ["-", "-", "-", "y"],
  configure: ["-", "-", "-", "y"],
  enqueue: ["-", "-", "-", "y"],
  access: ["-", "-", "-", "y"],
  service_tokens: ["-", "-", "-", "y"],
};

const TENANT = "0192d3a0-0000-7000-8000-000000000001";
const OTHER = "0192d3a0-0000-7000-8000-000000000002";

function grant(role: Role, part: Partial<Grant> = {}): Grant {
  return { role, regions: ["us"], tenantIds: null, canReveal: false, actions: null, ...part };
}

function words(role: Role, action: Action): string {
  const { allowed, maxPauseMs, only, typed, needsReveal } = PERMISSIONS[action][role] as {
    allowed: boolean;
    maxPauseMs?: number;
    only?: string;
    typed?: true;
    needsReveal?: true;
  };
  if (!allowed) return "-";
  return String(maxPauseMs ?? only ?? (typed ? "typed" : needsReveal ? "reveal" : "y"));
}

describe("the table", () => {
  it("has every action and nothing else", () => {
    expect([...ACTIONS].sort()).toEqual(Object.keys(TABLE).sort());
  });

  const cells = ACTIONS.flatMap((action) =>
    ROLES.map((role, index) => ({ action, role, expected: TABLE[action][index] ?? "" })),
  );
  it.each(cells)("$role, $action: $expected", ({ action, role, expected }) => {
    expect(words(role, action)).toBe(expected);
    const scope = scopeOf([grant(role, { canReveal: true })], action);
    expect(scope).toEqual(expected === "-" ? {} : { us: null });
    const attempt = () =>
      requirePermit([grant(role, { canReveal: true })], action, { region: "us", tenantId: TENANT });
    if (expected === "-") expect(attempt).toThrow(expect.objectContaining({ code: "forbidden" }));
    else expect(attempt().allowed).toBe(true);
  });

  it("gives a higher role everything that a lower one may", () => {
    for (const action of ACTIONS) {
      const allowed = ROLES.map((role) => PERMISSIONS[action][role].allowed);
      expect(allowed, action).toEqual([...allowed].sort());
    }
  });

  it("shows a body only to a grant that says so", () => {
    expect(allowanceOf(grant("admin"), "reveal_body").allowed).toBe(false);
    expect(allowanceOf(grant("support", { canReveal: true }), "reveal_body").allowed).toBe(true);
    expect(allowanceOf(grant("viewer", { canReveal: true }), "reveal_body").allowed).toBe(false);
  });
});

describe("scopes", () => {
  it("a grant for us has no eu: neither rows nor the region's name", () => {
    const scope = scopeOf([grant("operator")], "read");
    expect(regionsOf(scope)).toEqual(["us"]);
    expect(() => tenantsIn(scope, "eu")).toThrow(expect.objectContaining({ code: "not_found" }));
    const eu = { region: "eu", tenantId: TENANT } as const;
    expect(() => requirePermit([grant("operator")], "pause", eu)).toThrow(
      expect.objectContaining({ code: "not_found" }),
    );
  });

  it("a grant for some tenants covers them and neither others nor the region as a whole", () => {
    const scope = scopeOf([grant("operator", { tenantIds: [TENANT] })], "pause");
    expect(covers(scope, { region: "us", tenantId: TENANT })).toBe(true);
    expect(covers(scope, { region: "us", tenantId: OTHER })).toBe(false);
    expect(covers(scope, { region: "us", tenantId: null })).toBe(false);
  });

  it("what may be read but not changed is forbidden; what may not be read does not exist", () => {
    const grants = [grant("viewer", { regions: ["us", "eu"] }), grant("operator", { regions: ["eu"] })];
    const at = (region: "us" | "eu") => () => requirePermit(grants, "cancel", { region, tenantId: TENANT });
    expect(at("us")).toThrow(expect.objectContaining({ code: "forbidden", status: 403 }));
    expect(at("eu")()).toEqual({ allowed: true, role: "operator" });
    expect(() => requirePermit([], "read", { region: "us", tenantId: null })).toThrow(
      expect.objectContaining({ code: "not_found", status: 404 }),
    );
  });

  it("of several grants the widest counts, and a scope is never wider than its own grant", () => {
    const grants = [grant("support"), grant("operator", { tenantIds: [TENANT] })];
    const pause = (tenantId: string) => requirePermit(grants, "pause", { region: "us", tenantId });
    expect(pause(TENANT).maxPauseMs).toBe(7 * 24 * 3_600_000);
    expect(pause(OTHER).maxPauseMs).toBe(4 * 3_600_000);
    expect(requirePermit([...grants, grant("admin")], "pause", { region: "us", tenantId: OTHER })).toEqual({
      allowed: true,
      maxPauseMs: 30 * 24 * 3_600_000,
      role: "admin",
    });
    expect(requirePermit(grants, "limits", { region: "us", tenantId: TENANT }).only).toBe("within_policy");
  });

  it("a service token does its scopes and no more, and never more than its role", () => {
    const token = grant("operator", { actions: ["read", "pause", "service_tokens"] });
    expect(scopeOf([token], "pause")).toEqual({ us: null });
    expect(scopeOf([token], "cancel")).toEqual({});
    expect(scopeOf([token], "service_tokens")).toEqual({});
  });

  it("contains: a part is inside, a region or tenant more is not", () => {
    expect(contains(EVERYWHERE, { us: [TENANT], eu: null })).toBe(true);
    expect(contains({ us: null }, { us: [TENANT] })).toBe(true);
    expect(contains({ us: [TENANT] }, { us: null })).toBe(false);
    expect(contains({ us: [TENANT] }, { us: [TENANT, OTHER] })).toBe(false);
    expect(contains({ us: null }, { us: null, eu: [TENANT] })).toBe(false);
  });

  it("for any grants: an action's scope covers exactly what some grant of it covers", () => {
    const anyGrant: fc.Arbitrary<Grant> = fc.record({
      role: fc.constantFrom(...ROLES),
      regions: fc.subarray([...REGIONS], { minLength: 1 }),
      tenantIds: fc.option(fc.subarray([TENANT, OTHER], { minLength: 1 })),
      canReveal: fc.boolean(),
      actions: fc.option(fc.subarray([...ACTIONS])),
    });
    const target = fc.record({
      region: fc.constantFrom(...REGIONS),
      tenantId: fc.option(fc.constantFrom(TENANT, OTHER)),
    });
    fc.assert(
      fc.property(
        fc.array(anyGrant, { maxLength: 4 }),
        fc.constantFrom(...ACTIONS),
        target,
        (grants, action, aim) => {
          const byHand = grants.some(
            (one) =>
              allowanceOf(one, action).allowed &&
              one.regions.includes(aim.region) &&
              (one.tenantIds === null || (aim.tenantId !== null && one.tenantIds.includes(aim.tenantId))),
          );
          expect(covers(scopeOf(grants, action), aim)).toBe(byHand);
        },
      ),
    );
  });
});

it("a refusal is a sentence that names the roles that may, and the action in its data alone", () => {
  expect(refusal("cancel").detail).toBe("Needs the role operator or admin, in this scope.");
  expect(refusal("reveal_body").detail).toContain("a grant that says so");
  for (const action of ACTIONS) {
    expect(refusal(action).detail, action).toMatch(/^Needs the role [a-z ]+, in this scope\.$/);
    expect(refusal(action).data).toMatchObject({ action });
  }
});

it("names are checked, not trusted", () => {
  expect([isRole("admin"), isRole("root"), isRole(null)]).toEqual([true, false, false]);
  expect([isAction("read"), isAction("toString"), isAction(undefined)]).toEqual([true, false, false]);
});
