/** Faults of the database server and of connections to it. */
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { World } from "../world.ts";
import { type Arena, anyRegion, type Inject, sure, withWorker } from "./arena.ts";
import { CLAIM_STATEMENT, FINISH_STATEMENT } from "./names.ts";
import { deleteJobs, lockJobs, terminateWorkers } from "./sql.ts";

const MAX_AWAY_MS = 700;
const LOST_REPLY_MS = 5_000;
const EXHAUSTED_MS = 2_000;
/** Connections that are asked for at once, until the server refuses. */
const GRAB_AT_ONCE = 20;
const GRAB_EVERY_MS = 50;
const TOO_MANY = "53300";
const HINTLESS_MS = 2_000;
const JOB_TRIES = 20;
const JOB_EVERY_MS = 50;

async function restart(arena: Arena, mode: "fast" | "immediate"): Promise<boolean> {
  return arena.exclusive(async () => {
    const { server } = arena.world;
    if (server === null) return false;
    await server.restart(mode, arena.chance.between(0, MAX_AWAY_MS));
    return true;
  });
}

export const restartFast: Inject = (arena) => restart(arena, "fast");
export const restartImmediate: Inject = (arena) => restart(arena, "immediate");

export const backendsTerminated: Inject = (arena) =>
  arena.exclusive(async () => {
    const { pool, region } = anyRegion(arena);
    return (await sure(() => terminateWorkers(pool, region))) > 0;
  });

async function loseReply(arena: Arena, statement: string): Promise<boolean> {
  return withWorker(arena, async ({ proxy }) => {
    const lost = proxy.loseAnswerTo(statement).then(() => true);
    const isLost = await Promise.race([lost, pause(LOST_REPLY_MS, false)]);
    proxy.disarm();
    return isLost;
  });
}

export const claimReplyLost: Inject = (arena) => loseReply(arena, CLAIM_STATEMENT);
export const finishReplyLost: Inject = (arena) => loseReply(arena, FINISH_STATEMENT);

/** Takes every connection that the server has, has the workers lose theirs, and takes those too. */
export const connectionsExhausted: Inject = (arena) =>
  arena.exclusive(async () => {
    const { pool, region, url } = anyRegion(arena);
    const own = await sure(() => pool.connect());
    const grabbed: Client[] = [];
    try {
      let isRefused = await grab(url, grabbed, arena.world);
      await terminateWorkers(own, region);
      for (
        const untilMs = performance.now() + EXHAUSTED_MS;
        performance.now() < untilMs;
        await pause(GRAB_EVERY_MS)
      ) {
        isRefused = (await grab(url, grabbed, arena.world)) || isRefused;
      }
      return isRefused;
    } finally {
      await Promise.all(grabbed.map((client) => client.end().catch(() => undefined)));
      own.release();
    }
  });

/** Opens connections until the server refuses one. Returns whether it did. */
async function grab(url: string, grabbed: Client[], world: World): Promise<boolean> {
  const most = world.maxConnections ?? 0;
  while (grabbed.length < most) {
    const clients = Array.from({ length: GRAB_AT_ONCE }, () => {
      const client = new Client({ connectionString: url, application_name: "chaos-grabber" });
      client.on("error", () => {});
      return client;
    });
    const results = await Promise.allSettled(clients.map((client) => client.connect()));
    results.forEach((result, index) => {
      const client = clients[index];
      if (result.status === "fulfilled" && client !== undefined) grabbed.push(client);
    });
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    if (errors.some((error) => (error as { code?: string }).code === TOO_MANY)) return true;
    if (errors.length > 0) return false;
  }
  return false;
}

/** There is not always a job: it is asked again for a moment. */
async function onJobs(arena: Arena, work: typeof deleteJobs): Promise<boolean> {
  const { pool } = anyRegion(arena);
  for (let attempt = 0; attempt < JOB_TRIES; attempt++) {
    if ((await sure(() => work(pool))) > 0) return true;
    await pause(JOB_EVERY_MS);
  }
  return false;
}

export const jobsDeleted: Inject = (arena) => onJobs(arena, deleteJobs);
export const jobsLocked: Inject = (arena) => onJobs(arena, lockJobs);

export const hintsLost: Inject = async (arena) => {
  const { pool, region, load } = anyRegion(arena);
  load.hints = false;
  try {
    const cut = await sure(() => terminateWorkers(pool, region, true));
    await pause(HINTLESS_MS);
    return cut > 0;
  } finally {
    load.hints = true;
  }
};
