/** What the API answers about dead-letters, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { Assignees } from "#db/console/access/assignees.ts";
import type {
  ClassTotal,
  DeadLetterGroupPage,
  DeadLetterGroupRow,
} from "#db/console/list-dead-letter-groups.ts";
import type { DeadLetterPage, DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { DeadLetterGroupView, GroupEvent, TenantShare } from "#db/console/read-dead-letter-group.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { deadClass, deadReason, destinationName, permits, tenantName } from "./responses-shared.ts";

/** Of a cause, in the list and on its own. */
const causeFields = {
  id: z.string().describe("`dlg_...`"),
  tag: z
    .string()
    .describe("Tells causes of one reason, code and destination apart: the end of the fingerprint."),
  reason: deadReason,
  reasonClass: deadClass,
  lastStatus: z.number().nullable(),
  lastOutcome: z.string().nullable(),
  lastSeenAt: z.string(),
  state: z.enum(["new", "acknowledged", "replaying", "resolved", "regressed"]),
  stateBy: z.string().nullable().describe("Who gave it its state; null while nobody has."),
  stateAt: z.string().nullable(),
  assignee: z.string().nullable(),
  noted: z.boolean(),
  version: z.number(),
  count: z.number().describe("Entries, up to the limit."),
  more: z.boolean(),
  willNotReplay: z
    .number()
    .describe("Of them, those of which a person has said that they will not be sent again."),
  tenants: z.number(),
  destinations: z.number(),
  firstSeenAt: z.string(),
  trend: z.array(z.number()).describe("Deaths by hour, the oldest hour first; the last one ends now."),
  errorCode: z
    .string()
    .nullable()
    .describe(
      "Of the newest entry's last attempt: `ECONNREFUSED`; null when there was an answer or the attempt is past its retention.",
    ),
  tenant: tenantName,
  destination: destinationName,
};

export const deadLetterGroupRow: z.ZodType<DeadLetterGroupRow> = z.object(causeFields);

export const classTotal: z.ZodType<ClassTotal> = z.object({
  reasonClass: deadClass,
  causes: z.number().describe("Among the causes of the filter, its class apart."),
  entries: z.number().describe("Entries of tenant and destination of the filter."),
});

export const deadLetterGroupPage: z.ZodType<DeadLetterGroupPage> = z.object({
  rows: z.array(deadLetterGroupRow),
  next: z.string().nullable(),
  classes: z.array(classTotal).describe("One for each class, also those without any."),
  entriesMore: z.boolean().describe("The entries of `classes` are only the first CLASS_COUNT_LIMIT."),
  causes: z.number().describe("Causes that match."),
  truncated: z.boolean().describe("There are more causes than were looked at: narrow the filter."),
  causesLimit: z.number(),
  latestDiedAt: z
    .string()
    .nullable()
    .describe(
      "When the latest one of the region and the scope died, whatever the filter; null when there is none.",
    ),
});

export const tenantShare: z.ZodType<TenantShare> = z.object({
  tenant: tenantName,
  destination: destinationName,
  entries: z.number(),
  lastHour: z
    .object({ requests: z.number(), delivered: z.number() })
    .describe("What the destination said to all of its requests of the last hour."),
});

export const deadLetterRow: z.ZodType<DeadLetterRow> = z.object({
  id: z.string().describe("`dlv_...`: a dead letter is the same delivery."),
  groupId: z.string().nullable().describe("`dlg_...`; null for a row that was written without one."),
  tenant: tenantName,
  destination: destinationName,
  eventType: z.string(),
  serviceClass: z.enum(SERVICE_CLASSES),
  reason: deadReason,
  reasonClass: deadClass,
  lastStatus: z.number().nullable(),
  lastOutcome: z.string().nullable(),
  lastDetail: z.string().nullable(),
  attempts: z.number(),
  failures: z.number(),
  throttles: z.number(),
  replays: z.number().describe("Times that it was brought back before it died again."),
  cycle: z.number(),
  createdAt: z.string(),
  firstFailureAt: z.string().nullable(),
  diedAt: z.string(),
  payload: z
    .enum(["kept", "erased", "restricted", "missing"])
    .describe(
      "kept: its body is there, and stays as long as this entry does: retention keeps the payloads of dead letters. erased: a person has erased it, a replay would end as payload_erased. restricted: so it would too, but a person can give it back. missing: there is no row of it.",
    ),
  payloadErasedAt: z.string().nullable(),
  willNotReplay: z.boolean(),
  willNotReplayReason: z.string().nullable(),
  version: z.number(),
});

export const groupEvent: z.ZodType<GroupEvent> = z.object({
  id: z.string().describe("`aud_...`"),
  at: z.string(),
  actor: z.string(),
  action: z.string(),
  reason: z.string(),
  ticket: z.string().nullable(),
});

export const deadLetterGroupView: z.ZodType<DeadLetterGroupView> = z.object({
  ...causeFields,
  note: z.string().nullable().describe("Null: none, or `noteHidden`."),
  noteHidden: z
    .boolean()
    .describe("There is one, but the cause also holds entries of tenants outside the caller's scope."),
  resolvedAt: z.string().nullable(),
  countLimit: z.number(),
  shares: z.array(tenantShare),
  samples: z.array(deadLetterRow).describe("Newest first."),
  history: z.array(groupEvent),
  permit: permits.describe("dead_letter_triage, will_not_replay."),
});

export const deadLetterPage: z.ZodType<DeadLetterPage> = z.object({
  rows: z.array(deadLetterRow),
  next: z.string().nullable(),
  latestDiedAt: z
    .string()
    .nullable()
    .describe(
      "When the latest one of the region and the scope died, whatever the filter; null when there is none.",
    ),
});

export const assignees: z.ZodType<Assignees> = z.object({
  assignees: z.array(z.object({ email: z.string(), name: z.string() })).describe("By address."),
  truncated: z.boolean().describe("More people may see the cause; each can be named by the whole address."),
});
