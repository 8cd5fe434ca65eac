/** The bodies of the service token routes, strict. */
import { z } from "zod";
import { MAX_TOKEN_DAYS } from "#db/console/access/service-tokens.ts";
import { ACTIONS, type Action, ROLES } from "#domain/permissions.ts";
import { REGIONS } from "#domain/region.ts";

const MAX_TENANTS = 1_000;

const reason = z.string().trim().min(10, { error: "must be 10 to 500 characters" }).max(500);

export const reasonBody = z.strictObject({ reason });

export const tokenBody = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,79}$/, { error: "must be lower case letters, digits and dashes" }),
  role: z.enum(ROLES),
  scopes: z
    .array(z.enum(ACTIONS as [Action, ...Action[]]))
    .min(1)
    .max(ACTIONS.length),
  regions: z.array(z.enum(REGIONS)).min(1).max(REGIONS.length),
  /** `ten_...`; absent: all tenants of the regions. */
  tenants: z
    .array(z.string().regex(/^ten_[0-9a-f]{32}$/, { error: "must be a ten_ id" }))
    .min(1)
    .max(MAX_TENANTS)
    .optional(),
  days: z.number().int().min(1).max(MAX_TOKEN_DAYS),
  reason,
});

export type TokenBody = z.infer<typeof tokenBody>;
