/**
 * A reviewed batch for the bench: dead letters of destinations that are fine again, and the batch by the product's own commands
 * from the draft to the run, with two people. Nothing of the product is switched off for it.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { CommandAnswer, CommandContext } from "#db/console/commands/run-command.ts";
import { annotateReplay, draftReplay, inspectReplay, planReplay } from "#db/console/replay/draft.ts";
import { submitReplay } from "#db/console/replay/freeze.ts";
import { approveReplay } from "#db/console/replay/review.ts";
import { continueReplay, startReplay, stopReplay } from "#db/console/replay/run.ts";
import { isSluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId, uuidV7 } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { untilTrue } from "../lib/wait.ts";
import { readBatch } from "./sql.ts";

const REASON = "the bench measures a replay";
/** Samples come every 5 s, counts of minutes every 10 s: a start before the first of them is refused. */
const READY_TIMEOUT_MS = 60_000;
const CANARY_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 30_000;
const LOOK_MS = 250;

export interface RunningBatch {
  /** UUID. */
  readonly id: string;
  /** Stops it and waits until it has ended. */
  stop(): Promise<void>;
}

/** Who gives commands in the bench. */
export function person(pool: Pool, actor: string, role: CommandContext["role"] = "operator"): CommandContext {
  return {
    region: "us",
    pool,
    actor,
    role,
    correlationId: randomUUID(),
    newId: () => uuidV7(Date.now(), randomBytes),
  };
}

/**
 * Drafts, inspects, annotates, plans, freezes, approves, starts, and continues after the canary.
 * @param ids UUIDs of dead letters
 * @param plan releases per second of each destination, and most of one destination at a time
 */
export async function runBatch(
  pool: Pool,
  ids: readonly string[],
  plan: { readonly ratePerSecond: number; readonly concurrency: number },
): Promise<RunningBatch> {
  const ann = person(pool, "user:bench-author");
  const bob = person(pool, "user:bench-reviewer");
  const deliveryIds = ids.map((id) => toPublicId("dlv", id));
  const drafted = await draftReplay(ann, EVERYWHERE, {
    name: "bench",
    selection: { ids: deliveryIds },
    limit: ids.length,
    reason: REASON,
  });
  const batchId = String(drafted.after.batchId);
  let version = drafted.version ?? 1;
  const about = () => ({ batchId, version, reason: REASON });
  const follow = (answer: CommandAnswer): CommandAnswer => {
    version = answer.version ?? version;
    return answer;
  };
  follow(await inspectReplay(ann, { ...about(), deliveryIds }));
  const yes = { yes: true, evidence: "a bench" };
  const checklist = { rootCause: yes, causeGone: yes, dedup: yes, meaningful: yes, order: yes };
  follow(await annotateReplay(ann, { ...about(), rootCause: "made by the bench", checklist }));
  follow(await planReplay(ann, { ...about(), plan }));
  const sha256 = String(follow(await submitReplay(ann, about())).after.sha256);
  follow(await approveReplay(bob, { ...about(), sha256 }));
  await untilTrue(
    () => done(startReplay(bob, about())),
    "a start with fresh readings",
    READY_TIMEOUT_MS,
    LOOK_MS,
  );
  const id = fromPublicId("rpl", batchId);
  const is = async (state: string) => (await readBatch(pool, id)).state === state;
  await untilTrue(() => is("canary_hold"), "the end of the canary", CANARY_TIMEOUT_MS, LOOK_MS);
  version = (await readBatch(pool, id)).version;
  await continueReplay(bob, about());
  return {
    id,
    async stop() {
      await stopReplay(bob, about());
      await untilTrue(() => is("stopped"), "the batch to stop", END_TIMEOUT_MS, LOOK_MS);
    },
  };
}

/** True when it was done, false while a condition is red or unknown. */
async function done(command: Promise<CommandAnswer>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (isSluiceError(error) && error.code === "replay_red") return false;
    throw error;
  }
}
