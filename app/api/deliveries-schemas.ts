/** The query parameters and bodies of the routes about deliveries, strict like all of them. */
import { z } from "zod";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import {
  FILTER_REASONS,
  isEventType,
  MAX_NAMED_DELIVERIES,
  RANGE_NAMES,
  readAge,
  readAttempts,
  readCode,
  readMoment,
  SORTS,
} from "#domain/delivery-filter.ts";
import { format } from "./export-schemas.ts";
import { cursor, destination, limit, oneOf, region, tenant } from "./schemas.ts";

const MAX_TEXT_CHARS = 40;
const MAX_ATTEMPT_NUMBER = 100_000;

/** A text that a reader of domain/delivery-filter.ts understands. */
function readable(read: (text: string) => unknown, error: string) {
  return z
    .string()
    .max(MAX_TEXT_CHARS)
    .refine((text) => read(text) !== null, { error })
    .optional();
}

const filters = {
  region,
  tenant: tenant.optional(),
  destination: destination.optional(),
  state: oneOf(STATES).optional(),
  reason: oneOf(FILTER_REASONS).optional(),
  code: readable(readCode, "must be a status like 429, a class like 5xx, timeout or network"),
  type: z.string().refine(isEventType, { error: "must be an event type" }).optional(),
  class: oneOf(SERVICE_CLASSES).optional(),
  attempts: readable(readAttempts, "must be a least number like 3.."),
  age: readable(readAge, "must be a least age like 1h.."),
  from: readable(readMoment, "must be a moment in UTC like 2026-11-30T12:00:00Z"),
  to: readable(readMoment, "must be a moment in UTC like 2026-11-30T12:00:00Z"),
  range: oneOf(RANGE_NAMES).optional(),
  // What an id or a key can be: visible ASCII.
  q: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: "must be a delivery id or an idempotency key" })
    .optional(),
  sort: oneOf(SORTS).optional(),
};

export const deliveriesQuery = z.strictObject({ ...filters, cursor: cursor.optional(), limit });

/** `dlv_a,dlv_b`: each once. */
const ids = z
  .string()
  .transform((text) => text.split(","))
  .pipe(
    z
      .array(z.string().regex(/^dlv_[0-9a-f]{32}$/, { error: "must be dlv_ ids with commas" }))
      .max(MAX_NAMED_DELIVERIES, { error: `names more than ${MAX_NAMED_DELIVERIES} deliveries` })
      .refine((list) => new Set(list).size === list.length, { error: "names a delivery twice" }),
  );

/** Everything that the filters match, or exactly the deliveries that are named. */
export const deliveriesExportQuery = z
  .strictObject({ ...filters, ids: ids.optional(), format })
  .refine(
    ({ ids: named, region: _region, format: _format, ...filter }) => named === undefined || isEmpty(filter),
    {
      error: "stands alone: beside it only region and format",
      path: ["ids"],
    },
  );

function isEmpty(filter: Readonly<Record<string, unknown>>): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

export const revealQuery = z.strictObject({ region });

export const revealBody = z.strictObject({
  what: oneOf(["payload", "response"]),
  /** Number of the attempt whose response is meant; only with `response`. Absent: the latest one. */
  attempt: z.int().min(0).max(MAX_ATTEMPT_NUMBER).optional(),
  reason: z.string().trim().min(1).max(500).optional(),
});
