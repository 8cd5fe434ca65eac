/**
 * The desk's passes as a task of a region's worker. It only writes deliveries; nothing is sent from here. A tick that is
 * late, lost or doubled does no harm: see passes.ts.
 */
import type { PrismaClient } from "#db/prisma.ts";
import type { Region } from "#domain/region.ts";
import { type TickOptions, type TickTask, tickTask } from "../tick-task.ts";
import { runTick } from "./passes.ts";

/**
 * The task, its identifier and its crontab line for one region.
 * @param prisma a client of that region's database
 */
export function supportTask(region: Region, prisma: PrismaClient, options: TickOptions = {}): TickTask {
  return tickTask(
    `support-tick-${region}`,
    (signal) => runTick(prisma, { region, hinter: options.hinter, signal }),
    options.repeatMs,
  );
}
