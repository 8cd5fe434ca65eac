/**
 * Creating and changing tenants and destinations, as it is asked for. Pure. Limits, weight, pauses and secrets of a row
 * that exists have commands of their own: nothing here changes them. A URL is checked by whoever knows the installation's
 * sending rules, never by its shape alone.
 */
import { z } from "zod";
import { ChangeFields, publicId } from "./commands.ts";
import { SetDestinationLimits, SetTenantLimits, SetWeight } from "./commands-limits.ts";
import { MAX_URL_CHARS } from "./destination-url.ts";
import { RetryPolicyOverride } from "./policy.ts";

export const MAX_NAME_CHARS = 200;
const NAME_RULE = `must be 1 to ${MAX_NAME_CHARS} characters without control characters`;
const SLUG_RULE = "must be 1 to 63 lower case letters, digits and dashes, the first no dash";
const HEADER_RULE = "must be 1 to 64 lower case letters, digits and dashes, or empty for none";

/** What people call it. Control characters would break lists and files. */
const Name = z
  .string({ error: NAME_RULE })
  .trim()
  .min(1, NAME_RULE)
  .max(MAX_NAME_CHARS, NAME_RULE)
  .regex(/^\P{Cc}*$/u, NAME_RULE);

/** Stands in addresses and on the command line; unique in its region and never given to somebody else. */
const Slug = z.string({ error: SLUG_RULE }).regex(/^[a-z0-9][a-z0-9-]{0,62}$/, SLUG_RULE);

const Url = z.string().min(1).max(MAX_URL_CHARS);
/** A second, plain signature header beside the standard ones; null: none. */
const PlainSignatureHeader = z
  .string({ error: HEADER_RULE })
  .regex(/^[a-z0-9-]{1,64}$/, HEADER_RULE)
  .nullable();

const { reason, ticket } = ChangeFields;
const destinationLimits = SetDestinationLimits.shape;

export const CreateTenant = z.strictObject({
  slug: Slug,
  name: Name,
  reason,
  ticket,
  /** Left out: 1. */
  weight: SetWeight.shape.weight.optional(),
  /** Left out or null: the region's. */
  concurrencyLimit: SetTenantLimits.shape.concurrencyLimit.optional(),
});
export type CreateTenant = z.infer<typeof CreateTenant>;

/**
 * What is left out stays as it is. The slug stays for good: addresses, files and other programs know the tenant by it.
 * `replayHeader`: its replayed attempts carry the batch's id in the header `webhook-replay` too.
 */
export const UpdateTenant = z
  .strictObject({
    tenantId: publicId("ten"),
    ...ChangeFields,
    name: Name.optional(),
    replayHeader: z.boolean().optional(),
  })
  .refine(
    ({ name, replayHeader }) => name !== undefined || replayHeader !== undefined,
    "name at least one field to change",
  );
export type UpdateTenant = z.infer<typeof UpdateTenant>;

export const CreateDestination = z.strictObject({
  tenantId: publicId("ten"),
  name: Name,
  url: Url,
  reason,
  ticket,
  concurrencyLimit: destinationLimits.concurrencyLimit,
  ratePerSecond: destinationLimits.ratePerSecond,
  rateBurst: destinationLimits.rateBurst,
  plainSignatureHeader: PlainSignatureHeader.optional(),
  policyOverride: RetryPolicyOverride.nullable().optional(),
});
export type CreateDestination = z.infer<typeof CreateDestination>;

/** What is left out stays as it is. A new URL counts for every request that begins after the answer. */
export const UpdateDestination = z
  .strictObject({
    destinationId: publicId("dst"),
    ...ChangeFields,
    name: Name.optional(),
    url: Url.optional(),
    plainSignatureHeader: PlainSignatureHeader.optional(),
    policyOverride: RetryPolicyOverride.nullable().optional(),
  })
  .refine(
    ({ name, url, plainSignatureHeader, policyOverride }) =>
      [name, url, plainSignatureHeader, policyOverride].some((field) => field !== undefined),
    "name at least one field to change",
  );
export type UpdateDestination = z.infer<typeof UpdateDestination>;

/** Takes a destination away for good: what waits for it is cancelled. `confirmName` is its name, typed. */
export const DeleteDestination = z.strictObject({
  destinationId: publicId("dst"),
  ...ChangeFields,
  confirmName: z.string().max(MAX_NAME_CHARS),
});
export type DeleteDestination = z.infer<typeof DeleteDestination>;
