/**
 * What all answers share. Objects here are open: a later version may say more, and a program must not break on it. The
 * tests close them, so that no answer says what is not written down.
 */
import { z } from "zod";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { ACTIONS, type Action } from "#domain/permissions.ts";
import { REGIONS } from "#domain/region.ts";

export const action = z.enum(ACTIONS as [Action, ...Action[]]);

export const unavailable = z
  .object({ region: z.enum(REGIONS), status: z.literal("unavailable"), detail: z.string() })
  .describe("The region did not answer in time: its numbers are unknown, never zero.");

/** A region's answer, or that it has none. */
export function regionAnswer<T>(data: z.ZodType<T>): z.ZodType<RegionAnswer<T>> {
  const known = z.object({
    region: z.enum(REGIONS),
    status: z.literal("ok"),
    asOf: z.string().describe("The region's own database time, UTC."),
    data,
  });
  return z.union([known, unavailable]);
}

const facts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const answerOfCommand = {
  auditId: z.string().describe("`aud_...`: the row that says who, why, before and after."),
  version: z.number().nullable().describe("The row's version now; null for a row that has none."),
  before: facts,
  after: facts,
  at: z.string().describe("The database's time of the change, UTC."),
  applied: z
    .boolean()
    .describe(
      "True: no claim that predates the change can still commit. False: stored, but not proven in time.",
    ),
};

export const commandAnswer: z.ZodType<CommandAnswer> = z.object(answerOfCommand);

export const rotatedSecret = z.object({
  ...answerOfCommand,
  secret: z.string().nullable().describe("Shown this once; null in a repeated answer."),
  previousUntil: z.string().nullable(),
});

const created = { ...answerOfCommand, id: z.string() };
export const createdTenant = z.object(created);
export const createdReplay = z.object(created);
export const createdDestination = z.object({
  ...created,
  secret: z.string().nullable().describe("Shown this once; null in a repeated answer."),
});
export const madeRow = z.object({ id: z.string() });
export const madeToken = z.object({ id: z.string(), token: z.string(), expiresAt: z.string() });
export const madePerson = z.object({
  id: z.string().describe("`usr_...`"),
  email: z.string(),
  password: z.string().nullable().describe("Of a local account, shown this once; null for an invitation."),
});
export const madeGrant = z.object({ id: z.string(), expiresAt: z.string().nullable() });
