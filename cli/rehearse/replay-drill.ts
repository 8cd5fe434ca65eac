/**
 * The replay drill from its scene to its checks: 120 dead letters of three destinations, two of them repaired, one reviewed
 * batch by two people, and the receiver's own records as the judge. Whatever happens, no batch is left running.
 */
import type { DeadLetterGroupPage } from "#db/console/list-dead-letter-groups.ts";
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { ReceiverClient } from "#demo/receiver/client.ts";
import type { RequestRecord } from "#demo/receiver/types.ts";
import type { Region } from "#domain/region.ts";
import type { Person } from "./person.ts";
import {
  annotate,
  type Batch,
  draft,
  endBatch,
  inspect,
  plan,
  readBatch,
  readItems,
  readReport,
  submit,
  tryApprove,
  waitForState,
  when,
} from "./replay-batch.ts";
import { type Check, checkDrill, type PlaceEvidence } from "./replay-checks.ts";
import {
  DEAD_OF_EACH,
  type DrillPlace,
  type DrillScene,
  dataOf,
  deadLettersOf,
  makePlaces,
  repair,
  requestsOf,
  waitForDeadLetters,
  writeDeliveries,
} from "./replay-scene.ts";
import { type Deadline, deadlineIn, type Steps, waitUntil } from "./steps.ts";

export interface DrillWorld {
  readonly region: Region;
  readonly run: string;
  readonly author: Person;
  readonly reviewer: Person;
  readonly receiver: ReceiverClient;
  /** How long all of it may take. */
  readonly timeoutMs: number;
  /** Leaves destinations and dead letters as they are. */
  readonly keep: boolean;
}

export interface DrillOutcome {
  /** Null when it did not come so far. */
  readonly batchId: string | null;
  readonly sha256: string | null;
  readonly counts: Readonly<Record<string, number>> | null;
  readonly checks: readonly Check[];
}

/** What a drill has come to; kept outside so that a failure can clean up. */
interface Drill {
  readonly world: DrillWorld;
  readonly scene: DrillScene;
  readonly steps: Steps;
  readonly deadline: Deadline;
  places: DrillPlace[];
  before: Map<string, DeadLetterRow>[];
  first: RequestRecord[];
  later: RequestRecord[];
  batch: Batch | null;
  sha256: string | null;
  authorRefused: string | null;
}

/** Runs it. Steps are noted as they end. @throws whatever a step throws, after cleaning up */
export async function runReplayDrill(world: DrillWorld, steps: Steps): Promise<DrillOutcome> {
  const { region, run, author, receiver } = world;
  const reason = `Replay drill ${run}`;
  const drill: Drill = {
    world,
    scene: { region, run, author, receiver, reason },
    steps,
    deadline: deadlineIn(world.timeoutMs),
    places: [],
    before: [],
    first: [],
    later: [],
    batch: null,
    sha256: null,
    authorRefused: null,
  };
  try {
    await setTheScene(drill);
    const batch = await writeTheBatch(drill);
    await reviewAndRun(drill, batch);
    return await judge(drill, batch);
  } finally {
    await cleanUp(drill);
  }
}

async function setTheScene(drill: Drill): Promise<void> {
  const { scene, steps, deadline } = drill;
  drill.places = await steps.step("scene", async () => {
    const value = await makePlaces(scene);
    return { value, detail: `${value.length} tenants with a destination each that refuses every body` };
  });
  drill.before = await steps.step("dead letters", async () => {
    await writeDeliveries(scene, drill.places);
    const value = await waitForDeadLetters(scene, drill.places, deadline);
    const total = value.reduce((sum, { size }) => sum + size, 0);
    return { value, detail: `${total} of ${value.length} destinations, ${DEAD_OF_EACH} each` };
  });
  drill.first = await requestsOf(scene.receiver, drill.places);
  await steps.step("repair", async () => {
    await repair(scene, drill.places);
    const repaired = drill.places.filter((place) => place.repaired);
    for (const place of repaired) await testEvent(drill, place);
    return {
      value: null,
      detail: `${repaired.length} destinations answer a test event, one is left failing`,
    };
  });
}

/** The proof that a destination is repaired, for the checklist's probe. */
async function testEvent({ scene, deadline }: Drill, place: DrillPlace): Promise<void> {
  const { author, region, receiver, reason } = scene;
  const of = `destinations/${place.destinationId}`;
  const version = await versionOf(author, `${of}/control?region=${region}`);
  await author.send(`${of}/test-event?region=${region}`, { version, body: { reason } });
  await waitUntil("the test event to arrive", deadline, async () => {
    const { effects } = await receiver.stats(place.receiverName);
    return effects > 0 ? true : null;
  });
}

async function versionOf(person: Person, path: string): Promise<number> {
  return dataOf(await person.get<RegionAnswer<{ version: number }>>(path)).version;
}

async function writeTheBatch(drill: Drill): Promise<Batch> {
  const { scene, steps, before } = drill;
  const { author, region, run, reason } = scene;
  const ids = before.flatMap((rows) => [...rows.keys()]);
  const batch = await steps.step("draft", async () => {
    const value = await draft(author, region, { name: `Replay drill ${run}`, ids, reason });
    return { value, detail: `${value.id} with ${ids.length} entries, by ${author.name}` };
  });
  drill.batch = batch;
  await steps.step("inspect", async () => {
    const opened = await inspect(author, batch);
    return { value: null, detail: `${opened} sampled entries opened` };
  });
  await steps.step("annotate", async () => {
    const repaired = drill.places.filter((place) => place.repaired).length;
    const seen = `${repaired} destinations took a signed test event at the receiver; one is left failing on purpose`;
    await annotate(author, batch, seen);
    return { value: null, detail: `cause gone: ${seen}` };
  });
  await steps.step("plan", async () => {
    await plan(author, batch);
    return { value: null, detail: "10/s for each destination, 10 at a time, one attempt" };
  });
  drill.sha256 = await steps.step("submit", async () => {
    const value = await submit(author, batch);
    return { value, detail: `frozen as ${value.slice(0, 12)}` };
  });
  return batch;
}

async function reviewAndRun(drill: Drill, batch: Batch): Promise<void> {
  const { world, steps, deadline, sha256 } = drill;
  const { author, reviewer } = world;
  const subject = sha256 ?? "";
  drill.authorRefused = await steps.step("author approves", async () => {
    const value = await tryApprove(author, batch, subject);
    if (value === null) throw new Error("the author could approve: the second person is not asked for");
    return { value, detail: `refused: ${value}` };
  });
  await steps.step("second person approves", async () => {
    const refused = await tryApprove(reviewer, batch, subject);
    if (refused !== null) throw new Error(refused);
    return { value: null, detail: reviewer.name };
  });
  await steps.step("start", async () => ({
    value: null,
    detail: await when(reviewer, batch, "start", deadline),
  }));
  const listen = () => hear(drill);
  await steps.step("canary", async () => {
    const { counts, canarySize } = await waitForState(reviewer, batch, "canary_hold", deadline, listen);
    return {
      value: null,
      detail: `${canarySize} went first: ${counts.delivered} delivered, ${counts.dead_again} dead again`,
    };
  });
  await steps.step("continue", async () => ({
    value: null,
    detail: await when(reviewer, batch, "continue", deadline),
  }));
  await steps.step("run", async () => {
    const { state, progress } = await waitForState(reviewer, batch, "ended", deadline, listen);
    return { value: null, detail: `${state}, ${progress}` };
  });
}

/** What the receiver saw since the last look: it forgets the oldest requests when others come. */
async function hear(drill: Drill): Promise<void> {
  const since = Math.max(0, ...[...drill.first, ...drill.later].map(({ sequence }) => sequence));
  drill.later.push(...(await requestsOf(drill.scene.receiver, drill.places, since)));
}

async function judge(drill: Drill, batch: Batch): Promise<DrillOutcome> {
  const { scene, steps } = drill;
  const { author } = scene;
  return steps.step("check", async () => {
    await hear(drill);
    const [detail, items, report] = await Promise.all([
      readBatch(author, batch),
      readItems(author, batch),
      readReport(author, batch),
    ]);
    const after = await Promise.all(drill.places.map((place) => deadLettersOf(scene, place)));
    const places: PlaceEvidence[] = drill.places.map(({ destinationId, repaired }, at) => ({
      destinationId,
      repaired,
      before: drill.before[at] ?? new Map(),
      after: after[at] ?? new Map(),
    }));
    const { first, later, authorRefused } = drill;
    const checks = checkDrill({ places, first, later, items, lanes: detail.lanes, report, authorRefused });
    const passed = checks.filter((each) => each.passed).length;
    const value = { batchId: batch.id, sha256: drill.sha256, counts: { ...report.counts }, checks };
    return { value, detail: `${passed} of ${checks.length} checks passed` };
  });
}

/** Ends the batch, lets the receiver forget its answers, and says of what is left that it will not be sent. Never throws. */
async function cleanUp(drill: Drill): Promise<void> {
  const { world, scene, batch, places } = drill;
  const quietly = (work: Promise<unknown>) => work.catch(() => undefined);
  if (batch !== null) await quietly(endBatch(scene.author, batch));
  if (world.keep) return;
  for (const place of places) {
    await quietly(scene.receiver.script(place.receiverName, []));
    await quietly(markRest(scene, place));
    await quietly(deleteDestination(scene, place));
  }
}

/** The rows stay, as every dead letter does; they only stop to look like work. */
async function markRest({ author, region, reason }: DrillScene, place: DrillPlace): Promise<void> {
  const answer = await author.get<RegionAnswer<DeadLetterGroupPage>>(
    `dead-letter-groups?region=${region}&destination=${place.destinationId}`,
  );
  if (answer.status !== "ok") return;
  for (const { id, version } of answer.data.rows) {
    await author.send(`dead-letter-groups/${id}/will-not-replay?region=${region}`, {
      version,
      body: { reason, until: answer.asOf },
    });
  }
}

async function deleteDestination({ author, region, reason }: DrillScene, place: DrillPlace): Promise<void> {
  const of = `destinations/${place.destinationId}`;
  const version = await versionOf(author, `${of}/control?region=${region}`);
  await author.send(`${of}?region=${region}`, {
    method: "DELETE",
    version,
    body: { reason, confirmName: place.name },
  });
}
