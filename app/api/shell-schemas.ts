/** The queries and bodies of the routes that the console's frame and settings use, strict. */
import { z } from "zod";
import { PERSON_WAYS } from "#db/console/access/people.ts";
import { ROLES } from "#domain/permissions.ts";
import { REGIONS } from "#domain/region.ts";
import { SAVED_VIEW_PAGES } from "#domain/saved-view.ts";
import { regions } from "./schemas.ts";

const MAX_SEARCH_CHARS = 255;
const MAX_TENANTS = 1_000;
const MAX_EMAIL_CHARS = 190;
/** Longest grant that has an end. */
export const MAX_GRANT_DAYS = 3_660;

export const activeControlsQuery = z.strictObject({ region: regions.optional() });
export const policiesQuery = z.strictObject({ region: regions.optional() });

export const searchQuery = z.strictObject({
  q: z.string().trim().min(2, { error: "needs at least 2 characters" }).max(MAX_SEARCH_CHARS),
  region: regions.optional(),
});

const savedViewPage = z.enum(SAVED_VIEW_PAGES, { error: `must be one of ${SAVED_VIEW_PAGES.join(", ")}` });

export const savedViewsQuery = z.strictObject({ page: savedViewPage });

export const savedViewBody = z.strictObject({
  page: savedViewPage,
  name: z.string(),
  /** The page's address after the question mark. */
  query: z.string(),
  shared: z.boolean(),
});

const reason = z.string().trim().min(10, { error: "must be 10 to 500 characters" }).max(500);

export const personBody = z.strictObject({
  email: z
    .string()
    .trim()
    .toLowerCase()
    .max(MAX_EMAIL_CHARS)
    .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { error: "must be an e-mail address" }),
  name: z
    .string()
    .trim()
    .regex(/^\P{Cc}{1,200}$/u, { error: "must be 1 to 200 characters" }),
  /** `invite`: signs in with the identity provider; `local`: with a password that the answer holds once. */
  way: z.enum(PERSON_WAYS),
  reason,
});

export type PersonBody = z.infer<typeof personBody>;

export const grantBody = z.strictObject({
  role: z.enum(ROLES),
  regions: z
    .array(z.enum(REGIONS))
    .min(1)
    .max(REGIONS.length)
    .refine((list) => new Set(list).size === list.length, { error: "names a region twice" }),
  /** `ten_...`; absent: all tenants of the regions. */
  tenants: z
    .array(z.string().regex(/^ten_[0-9a-f]{32}$/, { error: "must be a ten_ id" }))
    .min(1)
    .max(MAX_TENANTS)
    .optional(),
  /** May see bodies; not for a viewer. */
  canReveal: z.boolean().default(false),
  /** Days from now until it ends; absent: it has no end of its own. */
  days: z.number().int().min(1).max(MAX_GRANT_DAYS).optional(),
  reason,
});

export type GrantBody = z.infer<typeof grantBody>;
