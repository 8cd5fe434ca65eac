/** What the API answers about shared, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { DestinationName, TenantName } from "#db/console/names.ts";
import { DEAD_CLASSES, DEAD_REASONS, LANES } from "#domain/delivery.ts";
import { BLOCKERS } from "#domain/held-reason.ts";
import type { Objective } from "#domain/objectives.ts";
import type { PermitWord } from "#domain/permissions.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import { action } from "./responses-base.ts";

export const countAndAge: z.ZodType<CountAndAge> = z.object({
  count: z.number(),
  oldestMs: z.number().describe("Age of the oldest; 0 when there is none."),
});

/** Work that a decision of people holds, with the strongest one. */
export const heldWork = z.object({
  count: z.number(),
  oldestMs: z.number().describe("Age of the oldest; 0 when there is none."),
  why: z.string().nullable(),
});

export const objective: z.ZodType<Objective> = z.object({
  firstAttemptTargetMs: z.number().describe("A new delivery should be tried within this."),
  firstAttemptWarnMs: z.number(),
  firstAttemptPageMs: z.number(),
});

/** What a page compares its ages with, whatever it shows; of the region that the ages are of. */
export const thresholds = {
  objectives: z.object({ urgent: objective, routine: objective }),
  dueLag: z.object({ warnMs: z.number(), pageMs: z.number() }),
};

export const deadReason = z.enum(DEAD_REASONS);
export const deadClass = z.enum(DEAD_CLASSES);
export const lane = z.enum(LANES);
export const blockerName = z.enum(BLOCKERS);

export const replayName = z.object({ id: z.string(), name: z.string() });

/** What somebody decided, when and why; who and why may be unknown. */
export const decision = z.object({
  at: z.string(),
  reason: z.string().nullable(),
  by: z.string().nullable(),
});

export const tenantName: z.ZodType<TenantName> = z.object({
  id: z.string().describe("`ten_...`"),
  slug: z.string(),
  name: z.string(),
});

export const destinationName: z.ZodType<DestinationName> = z.object({
  id: z.string().describe("`dst_...`"),
  name: z.string(),
  host: z.string(),
});

export const permitWord: z.ZodType<PermitWord> = z.object({
  reason: z.string().optional(),
  allowed: z.boolean(),
  maxPauseMs: z.number().describe("Longest pause. Absent: any end.").optional(),
  only: z
    .enum(["lower", "within_policy", "own_approved"])
    .describe(
      "lower: only to a lower value. within_policy: inside the policy's bounds. own_approved: only one's own batch, after approval.",
    )
    .optional(),
  typed: z.literal(true).describe("The name of the target must be typed.").optional(),
});

/** What the caller may do to a row, by the names of the actions. */
export const permits = z.partialRecord(action, permitWord);
