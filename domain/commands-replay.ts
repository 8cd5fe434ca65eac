/**
 * What may be asked for of a replay batch. Pure. There is no command that sends a dead letter by itself, none that skips
 * the second person without saying so, and none that means "everything".
 */
import { z } from "zod";
import { ChangeFields, publicId, TICKET_MAX_CHARS } from "./commands.ts";
import { DEAD_REASONS } from "./delivery.ts";
import { moment } from "./moment.ts";
import { DEFAULT_REPLAY_ITEMS, MAX_REPLAY_ITEMS } from "./replay.ts";
import { MAX_REPLAY_RATE, MIN_REPLAY_RATE, ReplayPlanInput, ReplayPolicyInput } from "./replay-plan.ts";

export const BATCH_NAME_MAX_CHARS = 120;
export const EVIDENCE_MAX_CHARS = 1_000;

/** Which entries, all of one region. Exactly one way to say so. */
export const ReplaySelection = z.union(
  [
    z.strictObject({ groupId: publicId("dlg"), until: moment().optional() }),
    z.strictObject({
      ids: z.array(publicId("dlv")).min(1, "ids is empty: nothing is selected").max(MAX_REPLAY_ITEMS),
    }),
    /** What an ended batch sent and what failed again: a follow-up, which must name another cause. */
    z.strictObject({ deadAgainOf: publicId("rpl") }),
    z.strictObject({
      filter: z
        .strictObject({
          tenantId: publicId("ten").optional(),
          destinationId: publicId("dst").optional(),
          reason: z.enum(DEAD_REASONS).optional(),
          /** Died in this span; a relative time was made absolute when it was chosen. */
          from: moment().optional(),
          until: moment().optional(),
        })
        .refine(
          ({ tenantId, destinationId, reason }) => tenantId ?? destinationId ?? reason,
          "a filter needs at least a tenant, a destination or a reason",
        ),
    }),
  ],
  {
    error: `names exactly one of groupId, ids (1 to ${MAX_REPLAY_ITEMS} dlv_ ids), deadAgainOf or filter, each as it is described`,
  },
);
export type ReplaySelection = z.infer<typeof ReplaySelection>;

const limit = z.int().min(1).max(MAX_REPLAY_ITEMS).default(DEFAULT_REPLAY_ITEMS);

/** What a selection means now. */
export const PreviewReplay = z.strictObject({ selection: ReplaySelection, limit });

const rootCause = z.string().trim().min(3).max(EVIDENCE_MAX_CHARS);

/** A new batch. `limit`: the oldest so many of what matches. A follow-up needs its root cause from the beginning. */
export const DraftReplay = z.strictObject({
  name: z.string().trim().min(1).max(BATCH_NAME_MAX_CHARS),
  selection: ReplaySelection,
  limit,
  rootCause: rootCause.optional(),
  reason: ChangeFields.reason,
  ticket: ChangeFields.ticket,
});
export type DraftReplay = z.input<typeof DraftReplay>;

const batch = { batchId: publicId("rpl"), ...ChangeFields };

/** Continue, pause, resume, stop, start, cancel, approve, reject, request changes: which batch and why. */
export const ReplayCommand = z.strictObject(batch);
export type ReplayCommand = z.infer<typeof ReplayCommand>;

/** Sampled entries that the author has opened. */
export const InspectReplay = z.strictObject({
  ...batch,
  deliveryIds: z.array(publicId("dlv")).min(1).max(MAX_REPLAY_ITEMS),
});
export type InspectReplay = z.infer<typeof InspectReplay>;

/** Entries of one call: a command's body holds no more. */
export const MAX_REMOVED_ITEMS = 1_000;

/** Entries that leave a draft: those of another open batch, or what nobody wants to send after all. */
export const RemoveReplayItems = z.strictObject({
  ...batch,
  deliveryIds: z.array(publicId("dlv")).min(1).max(MAX_REMOVED_ITEMS),
});
export type RemoveReplayItems = z.infer<typeof RemoveReplayItems>;

const evidence = z.string().trim().min(3).max(EVIDENCE_MAX_CHARS);
const answer = z.strictObject({ yes: z.boolean(), evidence });

/** What the author found out. A no on `dedup` or `order` blocks the freeze unless an administrator submits. */
export const ReplayChecklist = z.strictObject({
  rootCause: answer,
  causeGone: answer,
  dedup: answer,
  meaningful: answer,
  order: answer,
});
export type ReplayChecklist = z.infer<typeof ReplayChecklist>;

export const AnnotateReplay = z.strictObject({
  ...batch,
  name: z.string().trim().min(1).max(BATCH_NAME_MAX_CHARS).optional(),
  rootCause: rootCause.optional(),
  fixUrl: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .nullable()
    .optional(),
  batchTicket: z.string().trim().min(1).max(TICKET_MAX_CHARS).nullable().optional(),
  checklist: ReplayChecklist.optional(),
});
export type AnnotateReplay = z.infer<typeof AnnotateReplay>;

export const PlanReplay = z.strictObject({ ...batch, plan: ReplayPlanInput });
export type PlanReplay = z.infer<typeof PlanReplay>;

/** `sha256`: of the frozen set that the person has read; another set is another approval. */
export const ApproveReplay = z.strictObject({ ...batch, sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type ApproveReplay = z.infer<typeof ApproveReplay>;

/** An administrator goes without the second person. The name of the batch is typed. */
export const BreakGlass = z.strictObject({
  ...batch,
  typedName: z.string().max(BATCH_NAME_MAX_CHARS),
});
export type BreakGlass = z.infer<typeof BreakGlass>;

/** A new top for the rate of each lane. Raising it again is an administrator's matter. */
export const SetReplayRate = z.strictObject({
  ...batch,
  ratePerSecond: z.number().min(MIN_REPLAY_RATE).max(MAX_REPLAY_RATE),
});
export type SetReplayRate = z.infer<typeof SetReplayRate>;

/** A new version of the limits and thresholds. What is left out stays as it is in force; version 0 is the built-in one. */
export const SetReplayPolicy = z.strictObject({
  version: z.int({ error: "the version that the change is based on is missing" }).min(0),
  reason: ChangeFields.reason,
  ticket: ChangeFields.ticket,
  policy: ReplayPolicyInput,
});
export type SetReplayPolicy = z.infer<typeof SetReplayPolicy>;

/** True when two people named the same cause, whatever the spaces and the case. */
export function isSameCause(one: string | null, two: string | null): boolean {
  const plain = (text: string | null) => (text ?? "").trim().replaceAll(/\s+/g, " ").toLowerCase();
  return plain(one) === plain(two);
}
