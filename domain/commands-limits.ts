/**
 * Limits, as they are asked for. Pure. Empty inherits; zero, negative and nonsense are refused, because a limit that
 * sends nothing is a pause without an end, a reason and a banner.
 */
import { z } from "zod";
import { ChangeFields, publicId } from "./commands.ts";

/** The bounds of the columns, and of what one database can hold. */
export const MAX_TENANT_CONCURRENCY = 100_000;
export const MAX_DESTINATION_CONCURRENCY = 10_000;
export const MIN_RATE_PER_SECOND = 0.001;
export const MAX_RATE_PER_SECOND = 100_000;
export const MAX_RATE_BURST = 100_000;
export const MAX_WEIGHT = 100;

const USE_PAUSE = "to send nothing, use pause";

function wholeNumber(most: number, empty: string) {
  const message = `must be a whole number from 1 to ${most}${empty}; ${USE_PAUSE}`;
  return z.int({ error: message }).min(1, message).max(most, message);
}

const inherits = ", or empty to inherit the region's";
const TenantConcurrency = wholeNumber(MAX_TENANT_CONCURRENCY, inherits).nullable();
const DestinationConcurrency = wholeNumber(MAX_DESTINATION_CONCURRENCY, inherits).nullable();

const RATE_RULE = `must be a number from ${MIN_RATE_PER_SECOND} to ${MAX_RATE_PER_SECOND}, or empty for none; ${USE_PAUSE}`;
/** Requests per second; thousandths are kept. Null: no rate. */
const RatePerSecond = z
  .number({ error: RATE_RULE })
  .min(MIN_RATE_PER_SECOND, RATE_RULE)
  .max(MAX_RATE_PER_SECOND, RATE_RULE)
  .nullable();

/** True: the person raises although the destination answers many requests with 429, and knows it. */
const acknowledge429 = z.boolean().optional();

/** What is left out stays as it is. */
export const SetTenantLimits = z.strictObject({
  tenantId: publicId("ten"),
  ...ChangeFields,
  concurrencyLimit: TenantConcurrency,
  acknowledge429,
});
export type SetTenantLimits = z.infer<typeof SetTenantLimits>;

export const SetDestinationLimits = z
  .strictObject({
    destinationId: publicId("dst"),
    ...ChangeFields,
    concurrencyLimit: DestinationConcurrency.optional(),
    ratePerSecond: RatePerSecond.optional(),
    rateBurst: wholeNumber(MAX_RATE_BURST, "").optional(),
    acknowledge429,
  })
  .refine(
    ({ concurrencyLimit, ratePerSecond, rateBurst }) =>
      concurrencyLimit !== undefined || ratePerSecond !== undefined || rateBurst !== undefined,
    "name at least one limit",
  );
export type SetDestinationLimits = z.infer<typeof SetDestinationLimits>;

export const SetWeight = z.strictObject({
  tenantId: publicId("ten"),
  ...ChangeFields,
  weight: wholeNumber(MAX_WEIGHT, ""),
});
export type SetWeight = z.infer<typeof SetWeight>;

/** Fixes the adaptive limit of a destination; the cap still bounds it. */
export const PinAdaptiveLimit = z.strictObject({
  destinationId: publicId("dst"),
  ...ChangeFields,
  limit: wholeNumber(MAX_DESTINATION_CONCURRENCY, ""),
  acknowledge429,
});
export type PinAdaptiveLimit = z.infer<typeof PinAdaptiveLimit>;

const POLICY_RATE_RULE = `must be a number from ${MIN_RATE_PER_SECOND} to ${MAX_RATE_PER_SECOND}; ${USE_PAUSE}`;

/**
 * What a region's rows inherit, and how far an operator may raise them. What is left out stays. Whatever inherits takes
 * the new value with the next claim.
 */
export const SetRegionDefaults = z
  .strictObject({
    ...ChangeFields,
    tenantConcurrency: wholeNumber(MAX_TENANT_CONCURRENCY, "").optional(),
    destinationConcurrency: wholeNumber(MAX_DESTINATION_CONCURRENCY, "").optional(),
    maxTenantConcurrency: wholeNumber(MAX_TENANT_CONCURRENCY, "").optional(),
    maxDestinationConcurrency: wholeNumber(MAX_DESTINATION_CONCURRENCY, "").optional(),
    maxRatePerSecond: z
      .number({ error: POLICY_RATE_RULE })
      .min(MIN_RATE_PER_SECOND, POLICY_RATE_RULE)
      .max(MAX_RATE_PER_SECOND, POLICY_RATE_RULE)
      .optional(),
    acknowledge429,
  })
  .refine(
    ({ version: _version, reason: _reason, ticket: _ticket, acknowledge429: _acknowledged, ...limits }) =>
      Object.values(limits).some((limit) => limit !== undefined),
    "name at least one limit",
  );
export type SetRegionDefaults = z.infer<typeof SetRegionDefaults>;

/**
 * A limit as people type it: empty or "inherit" is null, nonsense is NaN, which no schema above lets through.
 * Grouped digits, exponents and other bases are nonsense: they are typing mistakes more often than meant.
 */
export function readLimitText(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.toLowerCase() === "inherit" || trimmed.toLowerCase() === "none") return null;
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}
