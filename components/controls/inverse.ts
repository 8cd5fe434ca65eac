/**
 * What Undo opens after a control: the inverse dialog with the former values filled in, never a silent change back. Null
 * where nothing can be undone: a secret that was replaced, a request that was sent, a delivery that was cancelled, a body
 * that was erased. Pure.
 */
import type { Facts } from "./conflict-words.ts";
import {
  type ControlRequest,
  DEFAULT_FIELDS,
  type DefaultField,
  type Fill,
  type Verb,
} from "./control-request.ts";

/** @param nowMs the server's time: an end that is over cannot be given back */
export function inverseOf(request: ControlRequest, before: Facts, nowMs: number): ControlRequest | null {
  const inverse = INVERSES[request.verb]?.(before, nowMs) ?? null;
  return inverse === null ? null : { target: request.target, ...inverse };
}

type Inverse = { readonly verb: Verb; readonly fill?: Fill };

const INVERSES: Readonly<Partial<Record<Verb, (before: Facts, nowMs: number) => Inverse | null>>> = {
  // An extended pause goes back to its former end, a new one ends.
  pause: (before, nowMs) => formerPause(before, nowMs) ?? { verb: "resume" },
  resume: (before, nowMs) => formerPause(before, nowMs),
  limits: (before) => ({ verb: "limits", fill: limitsOf(before) }),
  weight: ({ weight }) => (typeof weight === "number" ? { verb: "weight", fill: { weight } } : null),
  "replay-header": ({ replayHeader }) =>
    typeof replayHeader === "boolean" ? { verb: "replay-header", fill: { replayHeader } } : null,
  pin: (before) => (before.pinned === true ? formerPin(before) : { verb: "unpin" }),
  unpin: (before) => formerPin(before),
  disable: () => ({ verb: "enable" }),
  enable: () => ({ verb: "disable" }),
  restrict: () => ({ verb: "lift-restriction" }),
  "lift-restriction": () => ({ verb: "restrict" }),
  "stop-claims": () => ({ verb: "start-claims" }),
  "start-claims": () => ({ verb: "stop-claims" }),
  defaults: (before) => ({ verb: "defaults", fill: { defaults: defaultsOf(before) } }),
};

function formerPause({ pauseUntil }: Facts, nowMs: number): Inverse | null {
  if (typeof pauseUntil !== "string" || !(Date.parse(pauseUntil) > nowMs)) return null;
  return { verb: "pause", fill: { until: pauseUntil } };
}

function formerPin({ adaptiveLimit }: Facts): Inverse | null {
  return typeof adaptiveLimit === "number" ? { verb: "pin", fill: { adaptiveLimit } } : null;
}

function limitsOf({ concurrencyLimit, ratePerSecond, rateBurst }: Facts): Fill {
  return {
    ...(isLimit(concurrencyLimit) ? { concurrencyLimit } : {}),
    ...(isLimit(ratePerSecond) ? { ratePerSecond } : {}),
    ...(typeof rateBurst === "number" ? { rateBurst } : {}),
  };
}

function defaultsOf(before: Facts): Partial<Record<DefaultField, number>> {
  return Object.fromEntries(
    DEFAULT_FIELDS.flatMap((field) => (typeof before[field] === "number" ? [[field, before[field]]] : [])),
  );
}

function isLimit(value: unknown): value is number | null {
  return value === null || typeof value === "number";
}
