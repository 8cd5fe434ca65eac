/** The words that name a control: titles, what a toast says, what stands in a menu. One place, so that all agree. Pure. */
import type { ControlRequest, ControlTarget, Verb } from "./control-request.ts";

const TITLES: Readonly<Record<Verb, (where: string) => string>> = {
  pause: (where) => `Pause deliveries for ${where}`,
  resume: (where) => `Resume deliveries for ${where}`,
  limits: (where) => `Change limits of ${where}`,
  weight: (where) => `Change the weight of ${where}`,
  "replay-header": (where) => `Change the replay header of ${where}`,
  pin: (where) => `Pin the adaptive limit of ${where}`,
  unpin: (where) => `Unpin the adaptive limit of ${where}`,
  disable: (where) => `Disable ${where}`,
  enable: (where) => `Enable ${where}`,
  "open-gate": (where) => `Open the gate of ${where}`,
  "rotate-secret": (where) => `Rotate the secret of ${where}`,
  "end-previous-secret": (where) => `End the previous secret of ${where}`,
  "test-event": (where) => `Send a signed test event to ${where}`,
  "retry-now": (where) => `Retry ${where} now`,
  cancel: (where) => `Cancel ${where}`,
  "will-not-replay": (where) => `Mark ${where} as “will not replay”`,
  erase: (where) => `Erase ${where}`,
  restrict: (where) => `Restrict ${where}`,
  "lift-restriction": (where) => `Give back ${where}`,
  "stop-claims": (where) => `Stop claims in ${where}`,
  "start-claims": (where) => `Start claims in ${where}`,
  defaults: (where) => `Change the default limits of ${where}`,
};

const DONE: Readonly<Record<Verb, (where: string) => string>> = {
  pause: (where) => `Deliveries for ${where} are paused`,
  resume: (where) => `Deliveries for ${where} are resumed`,
  limits: (where) => `The limits of ${where} are changed`,
  weight: (where) => `The weight of ${where} is changed`,
  "replay-header": (where) => `The replay header of ${where} is changed`,
  pin: (where) => `The adaptive limit of ${where} is pinned`,
  unpin: (where) => `The adaptive limit of ${where} moves again`,
  disable: (where) => `${where} is disabled`,
  enable: (where) => `${where} is enabled`,
  "open-gate": (where) => `The gate of ${where} is open for one probe`,
  "rotate-secret": (where) => `${where} has a new secret`,
  "end-previous-secret": (where) => `The previous secret of ${where} has ended`,
  "test-event": (where) => `A test event for ${where} is written`,
  "retry-now": (where) => `${where} is due now`,
  cancel: (where) => `${where} is cancelled`,
  "will-not-replay": (where) => `${where} is marked as “will not replay”`,
  erase: (where) => `${where} is erased`,
  restrict: (where) => `${where} is restricted`,
  "lift-restriction": (where) => `${where} is given back`,
  "stop-claims": (where) => `Claims are stopped in ${where}`,
  "start-claims": (where) => `Claims are started in ${where}`,
  defaults: (where) => `The default limits of ${where} are changed`,
};

/** "Acme, EU"; a region stands for itself, and a delivery and its body have an id that is nowhere else. */
export function whereOf({ kind, name, region }: ControlTarget): string {
  if (kind === "region") return region.toUpperCase();
  return kind === "delivery" || kind === "payload" ? name : `${name}, ${region.toUpperCase()}`;
}

/** "Pause deliveries for Acme, EU". */
export function titleOf({ verb, target }: ControlRequest): string {
  return TITLES[verb](whereOf(target));
}

/** "Pause deliveries for Acme, US and EU". */
export function titleIn(verb: Verb, where: string): string {
  return TITLES[verb](where);
}

/** What holds after the answer. In a sentence that goes on, a comma behind the name would need a second one: "Acme (EU)". */
export function doneWords({ verb, target }: ControlRequest): string {
  const where = whereOf(target);
  const named = where === target.name || target.kind === "region";
  const words = DONE[verb](named ? where : `${target.name} (${target.region.toUpperCase()})`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** A count that may be more than was counted. */
export function boundedWords({ count, more }: { readonly count: number; readonly more: boolean }): string {
  return `${count.toLocaleString("en-GB")}${more ? "+" : ""}`;
}
