/**
 * New versions of what deliveries are tried again by and of what counts as late, as they are asked for. Pure. Version 0 is
 * what is built in; what is left out stays as it is in force. Whether the numbers fit together is decided over the row.
 */
import { z } from "zod";
import { ChangeFields } from "./commands.ts";
import { SERVICE_CLASSES } from "./delivery.ts";
import { OBJECTIVE_BOUNDS, type ObjectiveName, TARGETS_MS } from "./objectives.ts";
import { RetryPolicyOverride } from "./policy.ts";

const Version = z.int({ error: "the version that the change is based on is missing" }).min(0);
const next = { version: Version, reason: ChangeFields.reason, ticket: ChangeFields.ticket };

const TARGET_RULE = `must be one of ${TARGETS_MS.join(", ")}: first attempts are counted up to these ages`;
const target = z.literal([...TARGETS_MS] as [number, ...number[]], { error: TARGET_RULE }).optional();
const ageMs = (name: ObjectiveName) =>
  z.int().min(OBJECTIVE_BOUNDS[name].min).max(OBJECTIVE_BOUNDS[name].max).optional();
const share = (name: ObjectiveName) =>
  z.number().min(OBJECTIVE_BOUNDS[name].min).max(OBJECTIVE_BOUNDS[name].max).optional();

/** Any of the numbers of domain/objectives.ts. */
export const ObjectivesInput = z
  .strictObject({
    urgentTargetMs: target,
    urgentWarnMs: ageMs("urgentWarnMs"),
    urgentPageMs: ageMs("urgentPageMs"),
    routineTargetMs: target,
    routineWarnMs: ageMs("routineWarnMs"),
    routinePageMs: ageMs("routinePageMs"),
    dueWarnMs: ageMs("dueWarnMs"),
    duePageMs: ageMs("duePageMs"),
    triedTargetShare: share("triedTargetShare"),
    delayedTargetMs: ageMs("delayedTargetMs"),
    rateLimitedWarnShare: share("rateLimitedWarnShare"),
    rateLimitedActShare: share("rateLimitedActShare"),
    deadLetterWarnMs: ageMs("deadLetterWarnMs"),
  })
  .refine(
    (numbers) => Object.values(numbers).some((value) => value !== undefined),
    "name at least one number",
  );
export type ObjectivesInput = z.infer<typeof ObjectivesInput>;

export const SetObjectives = z.strictObject({ ...next, objectives: ObjectivesInput });
export type SetObjectives = z.infer<typeof SetObjectives>;

export const SetRetryPolicy = z.strictObject({
  ...next,
  serviceClass: z.enum(SERVICE_CLASSES),
  /** What changes of the class's policy. */
  retry: RetryPolicyOverride.refine(
    (changes) => Object.values(changes).some((value) => value !== undefined),
    "name at least one number",
  ),
});
export type SetRetryPolicy = z.infer<typeof SetRetryPolicy>;
