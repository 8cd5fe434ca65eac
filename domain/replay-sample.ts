/**
 * Which entries of a batch a person looks at, and in which order entries leave. Pure and repeatable: the seed is stored,
 * so that anybody can draw the same sample again. The order is by age and in turns; it is never by luck.
 */
import { createHash } from "node:crypto";

export const SAMPLE_ITEMS = 20;
/** The second person's own, of entries that the author has not seen. */
export const REVIEW_SAMPLE_ITEMS = 5;
/** Sampled entries that the author must have opened before the freeze, or all of them. */
export const MIN_INSPECTED = 10;

export interface Sampled {
  readonly id: string;
  readonly destinationId: string;
  readonly reason: string;
}

/**
 * A stratified sample: each (destination, reason) has at least one, the rest in proportion; more strata than `size` make
 * the sample larger, up to one for each.
 * @param seed any text
 * @param seen ids that must not be drawn
 */
export function drawSample<Item extends Sampled>(
  items: readonly Item[],
  seed: string,
  size: number = SAMPLE_ITEMS,
  seen: ReadonlySet<string> = new Set(),
): Item[] {
  const strata = new Map<string, Item[]>();
  for (const item of items.filter(({ id }) => !seen.has(id))) {
    const key = `${item.destinationId} ${item.reason}`;
    const group = strata.get(key);
    if (group === undefined) strata.set(key, [item]);
    else group.push(item);
  }
  const shuffled = [...strata].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => shuffle(group, seed));
  const firsts = shuffled.flatMap((group) => group.slice(0, 1));
  const rest = shuffle(
    shuffled.flatMap((group) => group.slice(1)),
    `${seed}:rest`,
  );
  return [...firsts, ...rest.slice(0, Math.max(0, size - firsts.length))];
}

function shuffle<Item extends Sampled>(items: readonly Item[], seed: string): Item[] {
  const rank = (id: string) => createHash("sha256").update(`${seed}:${id}`).digest("hex");
  return items
    .map((item) => ({ item, rank: rank(item.id) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ item }) => item);
}

export interface Ordered {
  readonly id: string;
  readonly destinationId: string;
  readonly diedMs: number;
}

/** Oldest first within a destination, one of each destination in turn; the destination with the oldest entry begins. */
export function releaseOrder<Item extends Ordered>(items: readonly Item[]): Item[] {
  const sorted = [...items].sort((a, b) => a.diedMs - b.diedMs || (a.id < b.id ? -1 : 1));
  const queues = new Map<string, Item[]>();
  for (const item of sorted) {
    const queue = queues.get(item.destinationId);
    if (queue === undefined) queues.set(item.destinationId, [item]);
    else queue.push(item);
  }
  const lists = [...queues.values()];
  const rounds = Math.max(0, ...lists.map((list) => list.length));
  const order: Item[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const list of lists) {
      const item = list[round];
      if (item !== undefined) order.push(item);
    }
  }
  return order;
}
