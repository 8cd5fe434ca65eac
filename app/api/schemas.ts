/** The query parameters of every route, strict: an unknown name or value is refused, never ignored. */
import { z } from "zod";
import { MAX_PAGE_ROWS } from "#db/console/list-deliveries.ts";
import { parseRegion, REGIONS } from "#domain/region.ts";

const DEFAULT_PAGE_ROWS = 50;
const MAX_QUERY_CHARS = 300;

export const region = z
  .string()
  .refine((text) => REGIONS.some((known) => text === known || text === known.toUpperCase()), {
    error: `must be one of ${REGIONS.join(", ")}`,
  })
  .transform(parseRegion);

/** `us,eu`: each region at most once. */
export const regions = z
  .string()
  .transform((text) => text.split(","))
  .pipe(
    z
      .array(region)
      .max(REGIONS.length)
      .refine((list) => new Set(list).size === list.length, { error: "names a region twice" }),
  );

/** One of a few words; the others are named in the refusal. */
export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(", ")}` });
}

export const tenant = z
  .string()
  .regex(/^(?:ten_[0-9a-f]{32}|[a-z0-9][a-z0-9-]{0,62})$/, { error: "must be a tenant's slug or ten_ id" });
export const destination = z.string().regex(/^dst_[0-9a-f]{32}$/, { error: "must be a dst_ id" });
export const cursor = z.string().min(1).max(MAX_QUERY_CHARS);
export const limit = z.coerce.number().int().min(1).max(MAX_PAGE_ROWS).default(DEFAULT_PAGE_ROWS);

export const overviewQuery = z.strictObject({ region: regions.optional() });

export const scopeQuery = z.strictObject({ region });

/** Resources without parameters. */
export const noQuery = z.strictObject({});
