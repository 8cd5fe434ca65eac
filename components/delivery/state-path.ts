/** Which states a delivery went through, in their order, and which may come next. Pure; what is not known is not drawn. */
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";
import { type DeliveryState, isTerminalState, TRANSITIONS } from "#domain/delivery.ts";

export interface StatePath {
  /** A state stands once, however often it came back; `dead` among them when it was replayed since. */
  passed: DeliveryState[];
  now: DeliveryState;
  /** When all goes well. Empty for one that has ended. */
  ahead: DeliveryState[];
  /** Where else it may go, from the state that it is in or from the next one. */
  otherwise: DeliveryState[];
}

/** `attempts`: those that are shown; of very many the latest, and a delay is among those. */
export function statePath(
  { state, attempts: count }: Pick<DeliveryDetail, "state" | "attempts">,
  attempts: readonly Pick<AttemptEntry, "decision">[],
): StatePath {
  const decided = (decision: AttemptEntry["decision"]) =>
    attempts.some((attempt) => attempt.decision === decision);
  const passed: DeliveryState[] = ["ready"];
  if (count > 0 || attempts.length > 0) passed.push("leased");
  if (decided("delayed")) passed.push("delayed");
  if (decided("dead") && state !== "dead") passed.push("dead");
  if (passed.at(-1) === state) passed.pop();
  const ahead = aheadOf(state);
  return { passed, now: state, ahead, otherwise: otherwiseOf([state, ...ahead]) };
}

function aheadOf(state: DeliveryState): DeliveryState[] {
  if (isTerminalState(state)) return [];
  return state === "leased" ? ["delivered"] : ["leased", "delivered"];
}

/** Every step of the state machine out of the states that are drawn, but for what a reviewed batch does to one that has ended. */
function otherwiseOf(drawn: readonly DeliveryState[]): DeliveryState[] {
  const [now] = drawn;
  if (now === undefined || isTerminalState(now)) return [];
  const reached = TRANSITIONS.filter(({ from }) => !isTerminalState(from) && drawn.includes(from)).map(
    ({ to }) => to,
  );
  const shown = ["delayed", "dead", "cancelled"] as const satisfies readonly DeliveryState[];
  return shown.filter((state) => state !== now && reached.includes(state));
}
