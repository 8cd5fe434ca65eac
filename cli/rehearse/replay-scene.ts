/**
 * The scene of the replay drill: three tenants with one destination each at the demo's receiver, which refuses every body,
 * and the dead letters that come of it. Then two of the destinations are repaired, at the receiver, as their owners would.
 * Tenants are used again by the next drill; destinations are its own, so that their history is.
 */
import type { DeadLetterPage, DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { ReceiverClient } from "#demo/receiver/client.ts";
import type { RequestRecord } from "#demo/receiver/types.ts";
import type { Region } from "#domain/region.ts";
import { ApiRefusal, type Person } from "./person.ts";
import { DRILL_EVENT } from "./replay-checks.ts";
import { type Deadline, waitUntil } from "./steps.ts";

export const DEAD_OF_EACH = 40;
const PLACES = 3;
/** Requests of the API at a time while deliveries are written. */
const WRITERS = 6;
/** At least what one destination has. */
const PAGE_ROWS = 100;
const STATUS = 422;

export interface DrillPlace {
  readonly tenantId: string;
  readonly destinationId: string;
  /** Of the destination, in the console. */
  readonly name: string;
  /** Under which the receiver counts it. */
  readonly receiverName: string;
  /** Repaired before the batch is drafted. */
  readonly repaired: boolean;
}

export interface DrillScene {
  readonly region: Region;
  /** Tells drills apart. */
  readonly run: string;
  readonly author: Person;
  readonly receiver: ReceiverClient;
  readonly reason: string;
}

/** @throws Error in words when a region does not answer */
export function dataOf<T>(answer: RegionAnswer<T>): T {
  if (answer.status !== "ok") throw new Error(`the region does not answer: ${answer.detail}`);
  return answer.data;
}

export async function makePlaces(scene: DrillScene): Promise<DrillPlace[]> {
  const places: DrillPlace[] = [];
  for (let number = 1; number <= PLACES; number += 1) {
    const tenantId = await tenantOf(scene, number);
    const receiverName = `drill-${scene.run}-${number}`;
    const name = `Drill ${scene.run}`;
    const { id } = await scene.author.send<{ id: string }>(`destinations?region=${scene.region}`, {
      body: {
        tenantId,
        name,
        url: `${scene.receiver.url}/reject/${STATUS}/${receiverName}?message=drill`,
        reason: scene.reason,
      },
    });
    places.push({ tenantId, destinationId: id, name, receiverName, repaired: number < PLACES });
  }
  return places;
}

async function tenantOf({ region, author, reason }: DrillScene, number: number): Promise<string> {
  const slug = `replay-drill-${number}`;
  try {
    const found = await author.get<RegionAnswer<{ tenant: { id: string } }>>(
      `tenants/${slug}?region=${region}`,
    );
    return dataOf(found).tenant.id;
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
  }
  const body = { slug, name: `Replay drill ${number}`, reason };
  return (await author.send<{ id: string }>(`tenants?region=${region}`, { body })).id;
}

/** Writes the deliveries of all places, each with a body of its own. */
export async function writeDeliveries(scene: DrillScene, places: readonly DrillPlace[]): Promise<void> {
  const wanted = places.flatMap((place) =>
    Array.from({ length: DEAD_OF_EACH }, (_, at) => ({ place, key: `${place.receiverName}-${at}`, at })),
  );
  const write = async (): Promise<void> => {
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      const { place, key, at } = next;
      await scene.author.send(`deliveries?region=${scene.region}`, {
        key,
        body: {
          tenantId: place.tenantId,
          destinationId: place.destinationId,
          eventType: DRILL_EVENT,
          payload: JSON.stringify({ drill: scene.run, at }),
        },
      });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

/** The dead letters of one place, by id. */
export async function deadLettersOf(
  { author, region }: Pick<DrillScene, "author" | "region">,
  { destinationId }: DrillPlace,
): Promise<Map<string, DeadLetterRow>> {
  const query = new URLSearchParams({ region, destination: destinationId, limit: String(PAGE_ROWS) });
  const page = dataOf(await author.get<RegionAnswer<DeadLetterPage>>(`dead-letters?${query}`));
  return new Map(page.rows.map((row) => [row.id, row]));
}

/** Waits until every delivery of every place is a dead letter. */
export function waitForDeadLetters(
  scene: DrillScene,
  places: readonly DrillPlace[],
  deadline: Deadline,
): Promise<Map<string, DeadLetterRow>[]> {
  return waitUntil("the dead letters", deadline, async (why) => {
    const rows = await Promise.all(places.map((place) => deadLettersOf(scene, place)));
    const missing = rows.filter(({ size }) => size < DEAD_OF_EACH).length;
    why(`${rows.map(({ size }) => size).join(", ")} of ${DEAD_OF_EACH} each`);
    return missing === 0 ? rows : null;
  });
}

/** From now on the receiver takes what it is sent. */
export async function repair(scene: DrillScene, places: readonly DrillPlace[]): Promise<void> {
  for (const { receiverName, repaired } of places) {
    if (repaired) await scene.receiver.script(receiverName, ["ok"]);
  }
}

/** Every request of a place after a sequence; the receiver keeps them for a while only, so they are read as they come. */
export async function requestsOf(
  receiver: ReceiverClient,
  places: readonly DrillPlace[],
  afterSequence = 0,
): Promise<RequestRecord[]> {
  const each = await Promise.all(
    places.map(({ receiverName }) => receiver.requests({ destination: receiverName, afterSequence })),
  );
  return each.flat();
}
