/** What the routes of tenants and destinations create, change and take away, each with what it needs. */
import "server-only";
import { readConfigureSettings, readRulesSettings } from "#db/console/commands/configure.ts";
import { createDestination } from "#db/console/commands/create-destination.ts";
import { createTenant } from "#db/console/commands/create-tenant.ts";
import { deleteDestination } from "#db/console/commands/delete-destination.ts";
import { updateDestination } from "#db/console/commands/update-destination.ts";
import { updateTenant } from "#db/console/commands/update-tenant.ts";
import type { CommandRoute } from "./command.ts";
import type { CreateRoute } from "./create-command.ts";

export const CREATE_TENANT: CreateRoute = {
  action: "configure",
  audit: "tenant.create",
  kind: "tenant",
  path: "/api/v1/tenants",
  inTenant: false,
  run: async (context, input) => ({ ...(await createTenant(context, input)) }),
};

export const CREATE_DESTINATION: CreateRoute = {
  action: "configure",
  audit: "destination.create",
  kind: "destination",
  path: "/api/v1/destinations",
  inTenant: true,
  run: async (context, input) => ({
    ...(await createDestination({ ...context, ...readConfigureSettings() }, input)),
  }),
};

export const UPDATE_TENANT: CommandRoute = {
  action: "configure",
  audit: "tenant.update",
  kind: "tenant",
  idField: "tenantId",
  versioned: true,
  run: async (context, input) => ({ ...(await updateTenant(context, input)) }),
};

const OF_DESTINATION = {
  action: "configure",
  kind: "destination",
  idField: "destinationId",
  versioned: true,
} as const;

export const UPDATE_DESTINATION: CommandRoute = {
  ...OF_DESTINATION,
  audit: "destination.update",
  run: async (context, input) => ({
    ...(await updateDestination({ ...context, ...readRulesSettings() }, input)),
  }),
};

export const DELETE_DESTINATION: CommandRoute = {
  ...OF_DESTINATION,
  audit: "destination.delete",
  run: async (context, input) => ({ ...(await deleteDestination(context, input)) }),
};
