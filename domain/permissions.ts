/**
 * Who may do what, where: the table of roles and actions, and the scopes in which a grant holds. Pure.
 * Handlers and commands ask here and nowhere else; a page may only repeat the answer. What no grant covers is refused.
 */
import { ROLES, type Role } from "./commands.ts";
import { MAX_PAUSE_MS_OF_ROLE } from "./commands-pause.ts";
import { SluiceError } from "./errors.ts";
import { REGIONS, type Region } from "./region.ts";

export { ROLES, type Role };

/** What a role may do of an action. The members besides `allowed` are conditions that the command checks. */
export interface Allowance {
  readonly allowed: boolean;
  /** Longest pause. Absent: any end. */
  readonly maxPauseMs?: number;
  /** lower: only to a lower value. within_policy: inside the policy's bounds. own_approved: only one's own batch, after approval. */
  readonly only?: "lower" | "within_policy" | "own_approved";
  /** The name of the target must be typed. */
  readonly typed?: true;
  /** The grant itself must say so, beside the role. */
  readonly needsReveal?: true;
}

const NO: Allowance = { allowed: false };
const YES: Allowance = { allowed: true };
const REVEAL: Allowance = { allowed: true, needsReveal: true };
const TYPED: Allowance = { allowed: true, typed: true };

type Row = Readonly<Record<Role, Allowance>>;

/** A row of the table: the four roles in their order. */
function row(viewer: Allowance, support: Allowance, operator: Allowance, admin: Allowance): Row {
  return { viewer, support, operator, admin };
}

function pauseOf(role: Role): Allowance {
  return { allowed: true, maxPauseMs: MAX_PAUSE_MS_OF_ROLE[role] };
}

const EVERYBODY = row(YES, YES, YES, YES);
const FROM_SUPPORT = row(NO, YES, YES, YES);
const FROM_OPERATOR = row(NO, NO, YES, YES);
const ADMIN_ONLY = row(NO, NO, NO, YES);

/** Every action of the console and the API with what each role may do of it. docs/access.md shows the same table. */
export const PERMISSIONS = {
  /** Metrics, deliveries, dead letters, audit. */
  read: EVERYBODY,
  /** Lists as files. */
  export: EVERYBODY,
  /** A request or response body, audited for each view. */
  reveal_body: row(NO, REVEAL, REVEAL, REVEAL),
  /** Acknowledge, assign or note a group of dead letters. */
  dead_letter_triage: FROM_SUPPORT,
  will_not_replay: FROM_SUPPORT,
  /** Pause and resume a tenant or a destination. */
  pause: row(NO, pauseOf("support"), pauseOf("operator"), pauseOf("admin")),
  retry_now: FROM_SUPPORT,
  test_event: FROM_SUPPORT,
  cancel: FROM_OPERATOR,
  /** Erase or restrict a body for good. */
  erase_payload: FROM_OPERATOR,
  /** Disable and enable a destination. */
  destination_disable: FROM_OPERATOR,
  rotate_secret: FROM_OPERATOR,
  hand_over: FROM_OPERATOR,
  open_gate: FROM_OPERATOR,
  /** Concurrency and rate of a tenant or a destination. */
  limits: row(NO, { allowed: true, only: "lower" }, { allowed: true, only: "within_policy" }, YES),
  /** Stop and start the claims of a region. */
  region_claims: row(NO, NO, TYPED, TYPED),
  replay_draft: FROM_SUPPORT,
  /** Another person's batch; the database refuses one's own. */
  replay_approve: FROM_OPERATOR,
  /** Start and resume a batch. */
  replay_start: row(NO, { allowed: true, only: "own_approved" }, YES, YES),
  replay_stop: FROM_SUPPORT,
  replay_lower_rate: FROM_SUPPORT,
  replay_raise_rate: ADMIN_ONLY,
  break_glass: ADMIN_ONLY,
  policies: ADMIN_ONLY,
  /** Create and update tenants and destinations. */
  configure: ADMIN_ONLY,
  /** Write a delivery over HTTP; meant for service tokens. */
  enqueue: ADMIN_ONLY,
  /** People and their grants. */
  access: ADMIN_ONLY,
  service_tokens: ADMIN_ONLY,
} as const satisfies Record<string, Row>;

export type Action = keyof typeof PERMISSIONS;

/** Every action, in the order of the table. */
export const ACTIONS = Object.keys(PERMISSIONS) as readonly Action[];

/** Tenants of one region: their ids (UUIDs), or null for all of them, also those that come later. */
export type TenantScope = readonly string[] | null;

/** Which tenants of which regions. A region that is not a key is outside. */
export type AccessScope = Readonly<Partial<Record<Region, TenantScope>>>;

/** All tenants of all regions. */
export const EVERYWHERE: AccessScope = Object.fromEntries(REGIONS.map((region) => [region, null]));

/** A role with the scope in which it holds. */
export interface Grant {
  readonly role: Role;
  readonly regions: readonly Region[];
  readonly tenantIds: TenantScope;
  /** May see bodies, where the role allows it with a grant. */
  readonly canReveal: boolean;
  /** Of a service token: the only actions of the role that it may do. Null: all of the role's. */
  readonly actions: readonly Action[] | null;
}

/** What an action is aimed at. `tenantId` null: the region as a whole, which a grant for some tenants does not cover. */
export interface Target {
  readonly region: Region;
  readonly tenantId: string | null;
}

/** True for a role as rows store it. */
export function isRole(value: unknown): value is Role {
  return typeof value === "string" && (ROLES as readonly string[]).includes(value);
}

/** True for the name of an action. */
export function isAction(value: unknown): value is Action {
  return typeof value === "string" && Object.hasOwn(PERMISSIONS, value);
}

/** What one grant may do of an action, wherever it holds. */
export function allowanceOf(grant: Grant, action: Action): Allowance {
  const allowance: Allowance = PERMISSIONS[action][grant.role];
  if (!allowance.allowed) return NO;
  if (grant.actions !== null && !grant.actions.includes(action)) return NO;
  if (allowance.needsReveal && !grant.canReveal) return NO;
  return allowance;
}

/** Where an action may be done: the union of the grants that allow it. Empty when none does. */
export function scopeOf(grants: readonly Grant[], action: Action): AccessScope {
  const scope: Partial<Record<Region, TenantScope>> = {};
  for (const grant of grants) {
    if (!allowanceOf(grant, action).allowed) continue;
    for (const region of grant.regions) scope[region] = union(scope[region], grant.tenantIds);
  }
  return scope;
}

/** The regions of a scope, in the order in which they are shown. */
export function regionsOf(scope: AccessScope): Region[] {
  return REGIONS.filter((region) => scope[region] !== undefined);
}

/**
 * The tenants that may be read of a region.
 * @throws SluiceError `not_found` when the region is outside the scope: it must not be told from one that does not exist.
 */
export function tenantsIn(scope: AccessScope, region: Region): TenantScope {
  const tenants = scope[region];
  if (tenants === undefined) throw new SluiceError("not_found", "There is no such region in your scope.");
  return tenants;
}

/** True when the scope covers the target. */
export function covers(scope: AccessScope, target: Target): boolean {
  const tenants = scope[target.region];
  if (tenants === undefined) return false;
  return tenants === null || (target.tenantId !== null && tenants.includes(target.tenantId));
}

/** True when every tenant of every region of `inner` is in `outer`. */
export function contains(outer: AccessScope, inner: AccessScope): boolean {
  return regionsOf(inner).every((region) => {
    const tenants = inner[region];
    return tenants === null || tenants === undefined
      ? covers(outer, { region, tenantId: null })
      : tenants.every((tenantId) => covers(outer, { region, tenantId }));
  });
}

/** What may be done of an action on a target, and the role that it counts as: the highest of the grants that cover it. */
export interface Permit extends Allowance {
  readonly role: Role;
}

/**
 * What may be done of an action on a target, from all grants that cover it: the widest condition of each kind.
 * @throws SluiceError `not_found` when the target may not even be read; `forbidden` when it may be read but not this.
 */
export function requirePermit(grants: readonly Grant[], action: Action, target: Target): Permit {
  if (!covers(scopeOf(grants, "read"), target) && !covers(scopeOf(grants, action), target)) {
    throw new SluiceError("not_found", "There is no such row in your scope.");
  }
  const covering = grants.filter((grant) => covers(scopeOf([grant], action), target));
  const [first, ...rest] = covering.map((grant) => allowanceOf(grant, action));
  if (first === undefined) throw refusal(action);
  return { ...rest.reduce(wider, first), role: highestRole(covering) };
}

/** What may be done of one action here, for a page to repeat. `reason` stands when it is not allowed: a sentence. */
export interface PermitWord extends Omit<Allowance, "needsReveal"> {
  readonly reason?: string;
}

/** The answer of `requirePermit` for several actions on a target that may be read, as values instead of errors. */
export function permitsOf(
  grants: readonly Grant[],
  actions: readonly Action[],
  target: Target,
): Partial<Record<Action, PermitWord>> {
  return Object.fromEntries(actions.map((action) => [action, wordOf(grants, action, target)]));
}

function wordOf(grants: readonly Grant[], action: Action, target: Target): PermitWord {
  if (!covers(scopeOf(grants, action), target)) return { allowed: false, reason: refusal(action).detail };
  const { role: _role, ...word } = requirePermit(grants, action, target);
  return word;
}

/** The highest role among the grants; viewer when there is none. */
export function highestRole(grants: readonly Grant[]): Role {
  return ROLES[Math.max(0, ...grants.map((grant) => ROLES.indexOf(grant.role)))] ?? "viewer";
}

/**
 * The error for an action that no grant allows. It names the roles that may, so that a person knows whom to ask. Its words
 * stand beside buttons too, which say what is meant: the action's code is in the data alone.
 */
export function refusal(action: Action): SluiceError {
  const roles = ROLES.filter((role) => PERMISSIONS[action][role].allowed);
  const needs = PERMISSIONS[action].admin.needsReveal ? " and a grant that says so" : "";
  return new SluiceError("forbidden", `Needs the role ${roles.join(" or ")}${needs}, in this scope.`, {
    action,
    roles,
  });
}

function union(one: TenantScope | undefined, two: TenantScope): TenantScope {
  if (one === null || two === null) return null;
  return [...new Set([...(one ?? []), ...two])];
}

/** Keeps a condition only when both have it; of two lengths the longer. */
function wider(one: Allowance, two: Allowance): Allowance {
  const maxPauseMs =
    one.maxPauseMs === undefined || two.maxPauseMs === undefined
      ? undefined
      : Math.max(one.maxPauseMs, two.maxPauseMs);
  const only = widerOnly(one.only, two.only);
  return {
    allowed: true,
    ...(maxPauseMs === undefined ? {} : { maxPauseMs }),
    ...(only === undefined ? {} : { only }),
    ...(one.typed && two.typed ? { typed: true as const } : {}),
  };
}

function widerOnly(one: Allowance["only"], two: Allowance["only"]): Allowance["only"] {
  if (one === undefined || two === undefined) return undefined;
  return one === two ? one : "within_policy";
}
