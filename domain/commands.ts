/**
 * What people may ask for: the shape of every command, checked here once for the API, the command line and the forms.
 * Pure: it says whether a request makes sense, never whether the row allows it. No schema may take a field that it does
 * not know, and none may let a change through without a reason and the version it was based on.
 */
import { z } from "zod";
import { type ErrorCode, SluiceError } from "./errors.ts";
import { PUBLIC_ID_PREFIXES, type PublicIdPrefix } from "./ids.ts";
import { moment } from "./moment.ts";

export const REASON_MIN_CHARS = 10;
export const REASON_MAX_CHARS = 500;
export const TICKET_MAX_CHARS = 64;
export const ACTOR_MAX_CHARS = 200;
export const CORRELATION_MAX_CHARS = 128;
/** A caller's own field names may stand in an error; not without end. */
const DETAIL_MAX_CHARS = 300;

/** Roles of people, the least first; `system` is a worker that ends a pause or disables a destination. */
export const ROLES = ["viewer", "support", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];
export type ActorRole = Role | "system";

/** `ten_` and 32 hex digits, and the like. */
export function publicId(prefix: PublicIdPrefix) {
  return z.string().regex(new RegExp(`^${prefix}_[0-9a-f]{32}$`), `expected ${prefix}_ and 32 hex digits`);
}

const REASON_RULE = `a reason of ${REASON_MIN_CHARS} to ${REASON_MAX_CHARS} characters is required`;

/** Why it is done, in a person's words. It is kept in the audit for ever. */
export const Reason = z
  .string({ error: REASON_RULE })
  .trim()
  .min(REASON_MIN_CHARS, REASON_RULE)
  .max(REASON_MAX_CHARS, REASON_RULE);

/** What every change carries. `version` is that of the row the person saw. */
export const ChangeFields = {
  version: z.int({ error: "the version that the change is based on is missing" }).min(1),
  reason: Reason,
  ticket: z.string().trim().min(1).max(TICKET_MAX_CHARS).nullable().optional(),
};

/** A change that says nothing but which row and why. */
export const TenantCommand = z.strictObject({ tenantId: publicId("ten"), ...ChangeFields });
export const DestinationCommand = z.strictObject({ destinationId: publicId("dst"), ...ChangeFields });
export const RegionCommand = z.strictObject({ ...ChangeFields });
export type DestinationCommand = z.infer<typeof DestinationCommand>;
export type RegionCommand = z.infer<typeof RegionCommand>;

/**
 * Opens a shut gate before its time. `gateUntil` is the opening that the person saw: a gate that was shut again since
 * then, for longer, stays shut.
 */
export const OpenGate = z.strictObject({
  destinationId: publicId("dst"),
  ...ChangeFields,
  gateUntil: moment(),
});
export type OpenGate = z.infer<typeof OpenGate>;

/** Erases the body of one payload. Erasing needs no version: a body is there or it is gone. */
export const ErasePayload = z.strictObject({
  payloadId: publicId("pay"),
  reason: ChangeFields.reason,
  ticket: ChangeFields.ticket,
});
export type ErasePayload = z.infer<typeof ErasePayload>;

/**
 * Checks what a caller sent.
 * @throws SluiceError the code of the first broken rule (`bad_limit`, `bad_pause`, ...), else `invalid_body`; its detail
 *   names the field and never repeats a value of more than a few characters
 */
export function readCommand<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join(".") ?? "";
  const detail = `${field === "" ? "" : `${field}: `}${issue?.message ?? "not understood"}`.slice(
    0,
    DETAIL_MAX_CHARS,
  );
  const errors = [{ pointer: issue?.path.join("/") ?? "", detail: issue?.message ?? "not understood" }];
  throw new SluiceError(codeOf(String(issue?.path[0] ?? "")), detail, { field, errors });
}

/** Fields whose rules all end in one code, whatever the check that failed. */
const CODE_OF_FIELD: Readonly<Record<string, ErrorCode>> = {
  reason: "bad_reason",
  end: "bad_pause",
  concurrencyLimit: "bad_limit",
  ratePerSecond: "bad_limit",
  rateBurst: "bad_limit",
  weight: "bad_limit",
  limit: "bad_limit",
  tenantConcurrency: "bad_limit",
  destinationConcurrency: "bad_limit",
  maxTenantConcurrency: "bad_limit",
  maxDestinationConcurrency: "bad_limit",
  maxRatePerSecond: "bad_limit",
  objectives: "bad_policy",
  retry: "bad_policy",
};

function codeOf(field: string): ErrorCode {
  return (Object.hasOwn(CODE_OF_FIELD, field) ? CODE_OF_FIELD[field] : undefined) ?? "invalid_body";
}

/** Which kind of row a public id names, or null. */
export function kindOfId(text: string): PublicIdPrefix | null {
  return PUBLIC_ID_PREFIXES.find((prefix) => text.startsWith(`${prefix}_`)) ?? null;
}
