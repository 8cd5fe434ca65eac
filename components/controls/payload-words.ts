/** What may be done with a body in its present state, and whom an erasure reached. Pure. */
import type { DeliveryControlView } from "#db/console/control-views.ts";
import type { Facts } from "./conflict-words.ts";
import { sentence } from "./permit-words.ts";

type Payload = Pick<DeliveryControlView, "payload" | "refused">;

/** Why it cannot be restricted, or null. */
export function restrictRefusal({ payload, refused }: Payload): string | null {
  return payload.restricted ? "The body is restricted already." : sentence(refused.erase);
}

/** Why it cannot be given back, or null. */
export function liftRefusal({ payload }: Payload): string | null {
  return payload.restricted ? null : "The body is not restricted.";
}

/** Deliveries that used an erased body, as the answer counts them. */
export interface Users {
  readonly waiting: number;
  readonly leased: number;
  readonly dead: number;
  readonly delivered: number;
}

export function readUsers(after: Facts): Users {
  const count = (name: keyof Users) => (typeof after[name] === "number" ? after[name] : 0);
  return {
    waiting: count("waiting"),
    leased: count("leased"),
    dead: count("dead"),
    delivered: count("delivered"),
  };
}
