/**
 * What the replay drill holds against its evidence: the receiver's own records, the dead letters before and after, and what the
 * API says of the batch. Pure. Evidence that is missing fails a check, it never passes one.
 */
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { ReplayItemView, ReplayLaneView, ReplayReport } from "#db/console/replay/replay-views.ts";
import type { RequestRecord } from "#demo/receiver/types.ts";
import type { ReplayItemState } from "#domain/replay.ts";

export const DRILL_EVENT = "drill.written";

export interface Check {
  readonly name: string;
  readonly passed: boolean;
  /** Numbers, or what is wrong, without a full stop. */
  readonly detail: string;
}

/** Of one destination. */
export interface PlaceEvidence {
  readonly destinationId: string;
  readonly repaired: boolean;
  /** Its dead letters before the draft and after the end, by id. */
  readonly before: ReadonlyMap<string, DeadLetterRow>;
  readonly after: ReadonlyMap<string, DeadLetterRow>;
}

export type SeenRequest = Pick<
  RequestRecord,
  "webhookId" | "key" | "bodySha256" | "attempt" | "effect" | "eventType"
>;

export interface DrillEvidence {
  readonly places: readonly PlaceEvidence[];
  /** What the receiver saw before the batch was drafted, and since. */
  readonly first: readonly SeenRequest[];
  readonly later: readonly SeenRequest[];
  readonly items: readonly Pick<ReplayItemView, "id" | "destinationId" | "state">[];
  readonly lanes: readonly Pick<
    ReplayLaneView,
    "destinationId" | "stoppedAt" | "stopCondition" | "stopText"
  >[];
  readonly report: Pick<ReplayReport, "total" | "counts" | "requests">;
  /** What the API answered when the author approved; null: it let them. */
  readonly authorRefused: string | null;
}

/** Every check, in the order in which a person reads them. */
export function checkDrill(evidence: DrillEvidence): Check[] {
  return [
    frozenOnly(evidence),
    secondPerson(evidence),
    repairedDelivered(evidence),
    sameRequests(evidence),
    effectsOnce(evidence),
    laneStopped(evidence),
    restUntouched(evidence),
    reportAddsUp(evidence),
  ];
}

function check(name: string, wrong: readonly string[], right: string): Check {
  const more = wrong.length > 3 ? ` and ${wrong.length - 3} more` : "";
  const detail = wrong.length === 0 ? right : `${wrong.slice(0, 3).join("; ")}${more}`;
  return { name, passed: wrong.length === 0, detail };
}

const ofDrill = (requests: readonly SeenRequest[]) =>
  requests.filter(({ eventType }) => eventType === DRILL_EVENT);

const deadIds = ({ places }: DrillEvidence) => places.flatMap(({ before }) => [...before.keys()]);

function frozenOnly(evidence: DrillEvidence): Check {
  const wanted = new Set(deadIds(evidence));
  const items = new Set(evidence.items.map(({ id }) => id));
  const wrong: string[] = [];
  for (const id of wanted) if (!items.has(id)) wrong.push(`${id} is not in the batch`);
  for (const id of items) if (!wanted.has(id)) wrong.push(`${id} is in the batch and was not selected`);
  for (const { webhookId } of ofDrill(evidence.later))
    if (webhookId === null || !items.has(webhookId))
      wrong.push(`${webhookId} was sent and is not in the batch`);
  if (wanted.size === 0) wrong.push("there were no dead letters");
  return check("only frozen ids were sent", wrong, `${items.size} frozen`);
}

function secondPerson({ authorRefused }: DrillEvidence): Check {
  const wrong = authorRefused === null ? ["the author approved the batch alone"] : [];
  return check("the author could not approve", wrong, authorRefused ?? "");
}

function repairedDelivered(evidence: DrillEvidence): Check {
  const wrong: string[] = [];
  let delivered = 0;
  for (const { id, state } of itemsOf(evidence, true)) {
    if (state === "delivered") delivered += 1;
    else wrong.push(`${id} is ${state}`);
  }
  if (delivered === 0) wrong.push("nothing was delivered");
  return check("everything for the repaired destinations was delivered", wrong, `${delivered} delivered`);
}

/** Same id, same key, same body, next attempt number: of everything that was sent a second time. */
function sameRequests(evidence: DrillEvidence): Check {
  const wrong: string[] = [];
  const first = new Map(ofDrill(evidence.first).map((request) => [request.webhookId, request]));
  const later = ofDrill(evidence.later);
  for (const request of later) {
    const before = first.get(request.webhookId);
    if (before === undefined) wrong.push(`the receiver has no first request of ${request.webhookId}`);
    else if (before.key === null || request.key !== before.key)
      wrong.push(`${request.webhookId}: another key`);
    else if (before.bodySha256 === null || request.bodySha256 !== before.bodySha256)
      wrong.push(`${request.webhookId}: another body`);
    else if ((request.attempt ?? 0) <= (before.attempt ?? 0))
      wrong.push(`${request.webhookId}: its attempts did not go on`);
  }
  const sent = new Set(later.map(({ webhookId }) => webhookId));
  for (const { id, state } of evidence.items) {
    if ((state === "delivered" || state === "dead_again") && !sent.has(id))
      wrong.push(`${id} is ${state} and the receiver has no request of it`);
  }
  return check(
    "ids, keys and bodies are those of the first attempts",
    wrong,
    `${later.length} requests compared`,
  );
}

function effectsOnce(evidence: DrillEvidence): Check {
  const wrong: string[] = [];
  const effects = new Map<string, number>();
  for (const { webhookId, effect } of ofDrill([...evidence.first, ...evidence.later])) {
    if (webhookId !== null && effect === "applied") effects.set(webhookId, (effects.get(webhookId) ?? 0) + 1);
  }
  for (const { id } of itemsOf(evidence, true)) {
    const times = effects.get(id) ?? 0;
    if (times !== 1) wrong.push(`${id} had ${times} effects`);
  }
  for (const { id } of itemsOf(evidence, false))
    if (effects.has(id)) wrong.push(`${id} had an effect at the failing destination`);
  return check("every effect was applied once", wrong, `${effects.size} effects`);
}

function laneStopped(evidence: DrillEvidence): Check {
  const wrong: string[] = [];
  const why: string[] = [];
  for (const { destinationId, repaired } of evidence.places) {
    const lane = evidence.lanes.find((each) => each.destinationId === destinationId);
    if (lane === undefined) wrong.push(`${destinationId} has no lane`);
    else if (repaired && lane.stoppedAt !== null) wrong.push(`a repaired lane stopped: ${lane.stopText}`);
    else if (!repaired && lane.stoppedAt === null) wrong.push("the failing lane did not stop");
    else if (!repaired) why.push(`${lane.stopCondition}: ${lane.stopText}`);
  }
  if (why.length === 0 && wrong.length === 0) wrong.push("no destination was left failing");
  return check("the failing destination's lane stopped by its rule", wrong, why.join("; "));
}

/** States in which nothing of an item was sent. */
const UNSENT: readonly ReplayItemState[] = ["not_released", "recalled"];

function restUntouched(evidence: DrillEvidence): Check {
  const wrong: string[] = [];
  let rest = 0;
  const sent = new Set(ofDrill(evidence.later).map(({ webhookId }) => webhookId));
  for (const { id, state } of itemsOf(evidence, false)) {
    if (state === "dead_again") continue;
    if (!UNSENT.includes(state)) wrong.push(`${id} is ${state}`);
    if (sent.has(id)) wrong.push(`${id} was sent`);
    const place = evidence.places.find(({ before }) => before.has(id));
    const [before, after] = [place?.before.get(id), place?.after.get(id)];
    if (before === undefined || after === undefined) wrong.push(`${id} is no dead letter any more`);
    else if (print(before) !== print(after)) wrong.push(`${id} was changed`);
    rest += 1;
  }
  if (rest === 0) wrong.push("nothing was left of the failing destination");
  return check("its rest was not sent and is what it was", wrong, `${rest} dead letters untouched`);
}

/** What an attempt would have changed. */
function print(row: DeadLetterRow): string {
  const { reason, attempts, failures, throttles, cycle, lastStatus, diedAt, firstFailureAt } = row;
  return JSON.stringify([reason, attempts, failures, throttles, cycle, lastStatus, diedAt, firstFailureAt]);
}

function reportAddsUp({ report, items, later }: DrillEvidence): Check {
  const sum = Object.values(report.counts).reduce((all, count) => all + count, 0);
  const requests = ofDrill(later).length;
  const wrong = [
    ...(sum === report.total ? [] : [`its counts make ${sum}, its total is ${report.total}`]),
    ...(report.total === items.length ? [] : [`its total is ${report.total} of ${items.length} entries`]),
    ...(report.requests === requests
      ? []
      : [`it says ${report.requests} requests, the receiver ${requests}`]),
  ];
  const { delivered, dead_again: again, not_released: left, recalled } = report.counts;
  return check(
    "the report adds up to the frozen set",
    wrong,
    `${delivered} delivered, ${again} dead again, ${left + recalled} not sent, of ${report.total}`,
  );
}

function itemsOf({ places, items }: DrillEvidence, repaired: boolean): DrillEvidence["items"] {
  const ids = new Set(
    places.filter((place) => place.repaired === repaired).map(({ destinationId }) => destinationId),
  );
  return items.filter(({ destinationId }) => ids.has(destinationId));
}
