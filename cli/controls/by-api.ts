/**
 * A region's controls through the console's API, as the service token's own actor, role and scope. It must never send a value
 * that JSON would turn into another one, and never call a change done without the API's own answer.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import { DestinationCommand, ErasePayload, OpenGate, RegionCommand, readCommand } from "#domain/commands.ts";
import { DeliveryCommand, WillNotReplay } from "#domain/commands-delivery.ts";
import {
  PinAdaptiveLimit,
  SetDestinationLimits,
  SetRegionDefaults,
  SetTenantLimits,
  SetWeight,
} from "#domain/commands-limits.ts";
import { PauseDestination, PauseTenant, ResumeDestination, ResumeTenant } from "#domain/commands-pause.ts";
import type { Region } from "#domain/region.ts";
import { ApiRefusal, ApiSilence, callApi, type Sent } from "../api-client.ts";
import type { ApiSettings } from "../api-config.ts";
import { Refused } from "../command.ts";
import { readsByApi } from "./by-api-reads.ts";
import type { CommandName, Controls } from "./commands.ts";

export interface Route {
  readonly resource: "tenants" | "destinations" | "regions" | "deliveries" | "payloads";
  readonly verb: string;
  /** The command's own: what it refuses is refused here in the same words. */
  readonly schema: z.ZodType;
  /** The region's name goes into the body: it was typed as --region. */
  readonly typed?: true;
}

/** The field of a command that stands in the path; null: the region does. */
const ID_FIELDS = {
  tenants: "tenantId",
  destinations: "destinationId",
  deliveries: "deliveryId",
  payloads: "payloadId",
  regions: null,
} as const satisfies Record<Route["resource"], string | null>;

/** Where each command is: `POST /api/v1/<resource>/<id>/<verb>`. docs/api.md lists the same. */
export const ROUTES: Readonly<Record<CommandName, Route>> = {
  pauseTenant: { resource: "tenants", verb: "pause", schema: PauseTenant },
  resumeTenant: { resource: "tenants", verb: "resume", schema: ResumeTenant },
  setTenantLimits: { resource: "tenants", verb: "limits", schema: SetTenantLimits },
  setWeight: { resource: "tenants", verb: "weight", schema: SetWeight },
  pauseDestination: { resource: "destinations", verb: "pause", schema: PauseDestination },
  resumeDestination: { resource: "destinations", verb: "resume", schema: ResumeDestination },
  setDestinationLimits: { resource: "destinations", verb: "limits", schema: SetDestinationLimits },
  pinAdaptiveLimit: { resource: "destinations", verb: "pin", schema: PinAdaptiveLimit },
  unpinAdaptiveLimit: { resource: "destinations", verb: "unpin", schema: DestinationCommand },
  openGate: { resource: "destinations", verb: "open-gate", schema: OpenGate },
  enableDestination: { resource: "destinations", verb: "enable", schema: DestinationCommand },
  disableDestination: { resource: "destinations", verb: "disable", schema: DestinationCommand },
  stopClaims: { resource: "regions", verb: "stop-claims", schema: RegionCommand, typed: true },
  startClaims: { resource: "regions", verb: "start-claims", schema: RegionCommand, typed: true },
  setRegionDefaults: { resource: "regions", verb: "defaults", schema: SetRegionDefaults },
  retryNow: { resource: "deliveries", verb: "retry-now", schema: DeliveryCommand },
  cancelDelivery: { resource: "deliveries", verb: "cancel", schema: DeliveryCommand },
  willNotReplay: { resource: "deliveries", verb: "will-not-replay", schema: WillNotReplay },
  erasePayload: { resource: "payloads", verb: "erase", schema: ErasePayload },
  restrictPayload: { resource: "payloads", verb: "restrict", schema: ErasePayload },
  liftRestriction: { resource: "payloads", verb: "lift-restriction", schema: ErasePayload },
};

/** A change whose end is not known is sent once more, after this long. */
const REPEAT_AFTER_MS = 1_000;

export function controlsByApi(api: ApiSettings, region: Region): Controls {
  return {
    region,
    ...readsByApi(api, region),
    change: (name, input) => change(api, region, ROUTES[name], input),
  };
}

async function change(
  api: ApiSettings,
  region: Region,
  { resource, verb, schema, typed }: Route,
  input: object,
): Promise<CommandAnswer> {
  // JSON has no NaN: nonsense would arrive as null, and null clears a limit.
  readCommand(schema, input);
  const { version, ...fields } = input as Record<string, unknown>;
  const idField = ID_FIELDS[resource];
  const id = idField === null ? region : String(fields[idField]);
  if (idField !== null) delete fields[idField];
  const body = typed ? { ...fields, typed: region } : fields;
  const sent = { body, key: randomUUID(), ...(typeof version === "number" ? { version } : {}) };
  try {
    return checked(api, await sendTwice(api, `${resource}/${id}/${verb}?region=${region}`, sent));
  } catch (error) {
    throw inWords(error, id);
  }
}

/** Once more when the end of the first one is not known: the key keeps it one change. */
async function sendTwice(api: ApiSettings, path: string, sent: Sent): Promise<unknown> {
  try {
    return await callApi(api, "POST", path, sent);
  } catch (error) {
    if (!endIsUnknown(error)) throw error;
    await delay(REPEAT_AFTER_MS);
    return callApi(api, "POST", path, sent);
  }
}

function endIsUnknown(error: unknown): boolean {
  if (error instanceof ApiSilence) return error.mayHaveArrived;
  return error instanceof ApiRefusal && (error.status >= 500 || error.code === "request_in_progress");
}

/** @throws ApiSilence for what is no answer of a command */
function checked(api: ApiSettings, answer: unknown): CommandAnswer {
  const { auditId, applied, after } = (answer ?? {}) as Partial<CommandAnswer>;
  if (typeof auditId === "string" && typeof applied === "boolean" && after) return answer as CommandAnswer;
  throw new ApiSilence(api, "does not answer as an API", true);
}

function inWords(error: unknown, id: string): unknown {
  if (error instanceof ApiSilence) {
    const end = error.mayHaveArrived
      ? "it is not known whether the change was made: look before you try again"
      : "nothing was changed";
    return new Refused(`${error.message}; ${end}`);
  }
  if (!(error instanceof ApiRefusal)) return error;
  return new Refused(error.code === "not_found" ? `${id} does not exist in this region` : error.detail);
}
