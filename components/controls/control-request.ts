/**
 * Which control is asked for, on what: the few words that buttons, menus and Undo hand to the dialogs, with the API paths
 * that follow from them. Pure.
 */
import type { Action } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";

/** `name` is what people call it; of a region and a delivery it is the id. */
export interface ControlTarget {
  readonly kind: "tenant" | "destination" | "delivery" | "payload" | "region";
  readonly region: Region;
  /** Public id, or the region's name. */
  readonly id: string;
  readonly name: string;
  /** Of a payload: the `dlv_...` through which its state is read. A payload has no page of its own. */
  readonly deliveryId?: string;
}

export type Verb =
  | "pause"
  | "resume"
  | "limits"
  | "weight"
  | "replay-header"
  | "pin"
  | "unpin"
  | "disable"
  | "enable"
  | "open-gate"
  | "rotate-secret"
  | "end-previous-secret"
  | "test-event"
  | "retry-now"
  | "cancel"
  | "will-not-replay"
  | "erase"
  | "restrict"
  | "lift-restriction"
  | "stop-claims"
  | "start-claims"
  | "defaults";

/** Values that a dialog starts with instead of the present ones; what is absent is not filled. */
export interface Fill {
  /** UTC end of a pause. */
  readonly until?: string;
  readonly concurrencyLimit?: number | null;
  readonly ratePerSecond?: number | null;
  readonly rateBurst?: number;
  readonly weight?: number;
  readonly replayHeader?: boolean;
  readonly adaptiveLimit?: number;
  readonly defaults?: Readonly<Partial<Record<DefaultField, number>>>;
}

/** What a region sets for everybody: what is inherited, and how far operators may raise limits. */
export const DEFAULT_FIELDS = [
  "tenantConcurrency",
  "destinationConcurrency",
  "maxTenantConcurrency",
  "maxDestinationConcurrency",
  "maxRatePerSecond",
] as const;
export type DefaultField = (typeof DEFAULT_FIELDS)[number];

export interface ControlRequest {
  readonly target: ControlTarget;
  readonly verb: Verb;
  readonly fill?: Fill;
}

/** The permission that each verb needs. */
export const ACTION_OF_VERB: Readonly<Record<Verb, Action>> = {
  pause: "pause",
  resume: "pause",
  limits: "limits",
  weight: "limits",
  "replay-header": "configure",
  pin: "limits",
  unpin: "limits",
  disable: "destination_disable",
  enable: "destination_disable",
  "open-gate": "open_gate",
  "rotate-secret": "rotate_secret",
  "end-previous-secret": "rotate_secret",
  "test-event": "test_event",
  "retry-now": "retry_now",
  cancel: "cancel",
  "will-not-replay": "will_not_replay",
  erase: "erase_payload",
  restrict: "erase_payload",
  "lift-restriction": "erase_payload",
  "stop-claims": "region_claims",
  "start-claims": "region_claims",
  defaults: "policies",
};

const RESOURCES = {
  tenant: "tenants",
  destination: "destinations",
  delivery: "deliveries",
  payload: "payloads",
  region: "regions",
};

/** Where the present values are read; those of a payload stand with its delivery. */
export function viewPath(target: ControlTarget): string {
  const { kind, deliveryId } = target;
  const of =
    kind === "payload" && deliveryId !== undefined
      ? ({ ...target, kind: "delivery", id: deliveryId } as const)
      : target;
  return `${resourcePath(of)}/control${regionQuery(of)}`;
}

/** Verbs that change fields of the row itself, which has no path of its own for each. */
const PATCHES: readonly Verb[] = ["replay-header"];

export function commandMethod({ verb }: Pick<ControlRequest, "verb">): "POST" | "PATCH" {
  return PATCHES.includes(verb) ? "PATCH" : "POST";
}

/** Where the command is sent. */
export function commandPath({ target, verb }: Pick<ControlRequest, "target" | "verb">): string {
  const verbPath = PATCHES.includes(verb) ? "" : `/${verb}`;
  return `${resourcePath(target)}${verbPath}${regionQuery(target)}`;
}

function resourcePath({ kind, id }: ControlTarget): string {
  return `/api/v1/${RESOURCES[kind]}/${encodeURIComponent(id)}`;
}

function regionQuery({ kind, region }: ControlTarget): string {
  return kind === "region" ? "" : `?region=${region}`;
}
