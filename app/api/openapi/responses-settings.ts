/** What the API answers about settings, in the shapes of db/console: a schema that drifts from its type does not compile. */
import { z } from "zod";
import type { About } from "#components/queries/shell.ts";
import type { SignedIn } from "#components/shell/signed-in.tsx";
import { PERSON_WAYS, type PeopleAnswer, type Person, type PersonGrant } from "#db/console/access/people.ts";
import type { TokenEntry } from "#db/console/access/service-tokens.ts";
import type { SchemaVersion } from "#db/console/read-schema-versions.ts";
import type { SavedView, SavedViews } from "#db/console/saved-views.ts";
import type { SearchAnswer, SearchHits } from "#db/console/search.ts";
import { ROLES } from "#domain/permissions.ts";
import { REGIONS } from "#domain/region.ts";
import { action, regionAnswer } from "./responses-base.ts";
import { tenantName } from "./responses-shared.ts";

export const searchHits: z.ZodType<SearchHits> = z.object({
  tenants: z.array(tenantName),
  destinations: z.array(
    z.object({
      id: z.string().describe("`dst_...`"),
      name: z.string(),
      host: z.string(),
      tenantName: z.string(),
    }),
  ),
  deliveries: z
    .array(z.object({ id: z.string(), destinationName: z.string() }))
    .describe("By their idempotency key, which stands for one delivery at each destination."),
});

export const searchAnswer: z.ZodType<SearchAnswer> = z.object({ regions: z.array(regionAnswer(searchHits)) });

export const savedView: z.ZodType<SavedView> = z.object({
  id: z.string().describe("`viw_...`"),
  name: z.string(),
  query: z.string().describe("Without the question mark."),
  shared: z.boolean(),
  own: z.boolean().describe("False: somebody shares it."),
  by: z.string().describe("Name of the person who made it."),
});

export const savedViews: z.ZodType<SavedViews> = z.object({
  views: z.array(savedView),
  own: z.number().describe("The person's own views, on all pages, of at most `max`."),
  max: z.number(),
});

export const personGrant: z.ZodType<PersonGrant> = z.object({
  id: z.string().describe("`grt_...`"),
  role: z.enum(ROLES),
  regions: z.array(z.enum(REGIONS)),
  tenants: z.number().nullable().describe("Number of tenants it is limited to; null for all."),
  canReveal: z.boolean(),
  grantedBy: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().nullable().describe("Null: no end."),
});

export const person: z.ZodType<Person> = z.object({
  id: z.string().describe("`usr_...`"),
  email: z.string(),
  name: z.string(),
  disabled: z.boolean(),
  grants: z.array(personGrant),
});

export const people: z.ZodType<PeopleAnswer> = z.object({
  people: z.array(person),
  truncated: z.boolean().describe("More people exist than are listed."),
  ways: z.array(z.enum(PERSON_WAYS)).describe("How people can be added in this installation."),
});

export const tokenEntry: z.ZodType<TokenEntry> = z.object({
  id: z.string().describe("`tok_...`"),
  name: z.string(),
  role: z.enum(ROLES),
  scopes: z.array(action),
  regions: z.array(z.enum(REGIONS)),
  tenants: z.number().nullable().describe("Number of tenants it is limited to; null for all."),
  createdBy: z.string(),
  createdAt: z.string(),
  expiresAt: z.string(),
  revokedAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
});

export const schemaVersion: z.ZodType<SchemaVersion> = z.object({
  last: z.string().describe("Name of the newest applied migration."),
  appliedAt: z.string().nullable(),
  count: z.number().describe("Applied migrations."),
  server: z.string().describe('"18.1": of the database server.'),
});

export const about: z.ZodType<About> = z.object({
  version: z.string(),
  environment: z.string(),
  node: z.string(),
  build: z.enum(["production", "development"]),
  regions: z.array(regionAnswer(schemaVersion)),
  settings: z.array(z.object({ name: z.string(), value: z.string().nullable() })),
});

export const signedIn: z.ZodType<SignedIn> = z.object({
  name: z.string(),
  email: z.string().nullable().describe("Null for a service token."),
  roles: z
    .array(
      z.object({ role: z.enum(ROLES), regions: z.array(z.enum(REGIONS)), tenants: z.number().nullable() }),
    )
    .describe("One line per grant."),
  regions: z.array(z.enum(REGIONS)).describe("Regions that may be read, in their order."),
  actions: z.array(action).describe("Actions that are allowed somewhere."),
});
