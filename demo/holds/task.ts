/** The sweep of expired holds as a task of a region's worker. A tick that is late, lost or doubled does no harm: see sweep.ts. */
import type { PrismaClient } from "#db/prisma.ts";
import type { Region } from "#domain/region.ts";
import { type TickOptions, type TickTask, tickTask } from "../tick-task.ts";
import { sweep } from "./sweep.ts";

/**
 * The task, its identifier and its crontab line for one region.
 * @param prisma a client of that region's database
 */
export function holdSweepTask(region: Region, prisma: PrismaClient, options: TickOptions = {}): TickTask {
  return tickTask(
    `hold-sweep-${region}`,
    (signal) => sweep(prisma, { region, hinter: options.hinter, signal }),
    options.repeatMs,
  );
}
