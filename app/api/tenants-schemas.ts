/** The query parameters of tenants and destinations, strict: an unknown name or value is refused, never ignored. */
import { z } from "zod";
import { DESTINATION_SORTS, DESTINATION_STATES } from "#db/console/list-destinations.ts";
import { TENANT_SORTS, TENANT_STATES } from "#db/console/list-tenants.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import { cursor, limit, oneOf, region, regions, tenant } from "./schemas.ts";

/** Part of a name; no control characters. */
const search = z
  .string()
  .trim()
  .regex(/^\P{Cc}{1,100}$/u, { error: "must be 1 to 100 characters of a name" });

export const tenantsQuery = z
  .strictObject({
    region: regions.optional(),
    q: search.optional(),
    state: oneOf(TENANT_STATES).optional(),
    class: oneOf(SERVICE_CLASSES).optional(),
    sort: oneOf(TENANT_SORTS).default("-age"),
    cursor: cursor.optional(),
    limit,
  })
  .transform(({ region: asked, ...rest }) => ({ ...rest, regions: asked ?? null }));

export const destinationsQuery = z.strictObject({
  region,
  tenant: tenant.optional(),
  q: search.optional(),
  state: oneOf(DESTINATION_STATES).optional(),
  sort: oneOf(DESTINATION_SORTS).default("trouble"),
  cursor: cursor.optional(),
  limit,
});

/** One row of a region. */
export const regionQuery = z.strictObject({ region });
