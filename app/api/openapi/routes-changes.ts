/** Every route that changes something. Who may, and what is versioned, comes from the tables that the routes run by. */

import type { z } from "zod";
import { DestinationCommand, ErasePayload, OpenGate, RegionCommand } from "#domain/commands.ts";
import {
  CreateDestination,
  CreateTenant,
  DeleteDestination,
  UpdateDestination,
  UpdateTenant,
} from "#domain/commands-configure.ts";
import { DeliveryCommand, WillNotReplay } from "#domain/commands-delivery.ts";
import {
  PinAdaptiveLimit,
  SetDestinationLimits,
  SetRegionDefaults,
  SetTenantLimits,
  SetWeight,
} from "#domain/commands-limits.ts";
import { PauseDestination, PauseTenant, ResumeDestination, ResumeTenant } from "#domain/commands-pause.ts";
import { SetObjectives, SetRetryPolicy } from "#domain/commands-policy.ts";
import { EndPreviousSecret, RotateSecret } from "#domain/commands-secret.ts";
import { AssignGroup, GroupCommand, NoteGroup, WillNotReplayGroup } from "#domain/dead-letter-commands.ts";
import type { ErrorCode } from "#domain/errors.ts";
import { COMMANDS } from "../command-routes.ts";
import { commandQuery, regionCommandQuery } from "../command-schemas.ts";
import {
  CREATE_DESTINATION,
  CREATE_TENANT,
  DELETE_DESTINATION,
  UPDATE_DESTINATION,
  UPDATE_TENANT,
} from "../configure-routes.ts";
import { GROUP_COMMANDS } from "../dead-letters-commands.ts";
import { revealBody, revealQuery } from "../deliveries-schemas.ts";
import { enqueueBody, enqueueQuery } from "../enqueue-schemas.ts";
import { POLICY_COMMANDS } from "../policies.ts";
import { noQuery } from "../schemas.ts";
import { grantBody, personBody, savedViewBody } from "../shell-schemas.ts";
import { reasonBody, tokenBody } from "../token-schemas.ts";
import { changes, commands, creates, type Operation, special } from "./operation.ts";

const V1 = "/api/v1";
const query = commandQuery;

type Codes = readonly ErrorCode[];
const LIMIT: Codes = ["bad_limit", "bad_step"];

const words = (path: string, id: string, summary: string) => ({ path: `${V1}/${path}`, id, summary });

type CommandName = keyof typeof COMMANDS;

/** A verb of a resource; its operation is named as its line of the table. */
function verb(
  path: string,
  name: CommandName,
  summary: string,
  schema: z.ZodType,
  codes: Codes = [],
  rest: { answer?: "RotatedSecret" } = {},
): Operation {
  const asked = path.startsWith("regions/") ? regionCommandQuery : query;
  return commands(words(path, name, summary), COMMANDS[name], schema, { query: asked, codes, ...rest });
}

const TENANTS: readonly Operation[] = [
  creates(words("tenants", "createTenant", "A new tenant"), CREATE_TENANT, CreateTenant, {
    query,
    answer: "CreatedTenant",
    codes: ["bad_limit"],
  }),
  commands(
    words("tenants/{id}", "updateTenant", "What it is called, and which headers its replays carry"),
    UPDATE_TENANT,
    UpdateTenant,
    {
      query,
      method: "patch",
    },
  ),
  verb("tenants/{id}/pause", "tenantPause", "Holds a tenant until an end", PauseTenant, ["bad_pause"]),
  verb("tenants/{id}/resume", "tenantResume", "Ends its pause before its time", ResumeTenant),
  verb("tenants/{id}/limits", "tenantLimits", "Sets its concurrency cap", SetTenantLimits, LIMIT),
  verb("tenants/{id}/weight", "tenantWeight", "Sets its share", SetWeight, ["bad_limit"]),
];

const DESTINATIONS: readonly Operation[] = [
  creates(
    words("destinations", "createDestination", "A new destination; its secret stands in this answer alone"),
    CREATE_DESTINATION,
    CreateDestination,
    {
      query,
      answer: "CreatedDestination",
      codes: ["bad_limit", "bad_destination_url", "bad_policy", "lease_too_short", "bad_config"],
    },
  ),
  commands(
    words("destinations/{id}", "updateDestination", "Name, URL, plain header, policy"),
    UPDATE_DESTINATION,
    UpdateDestination,
    { query, method: "patch", codes: ["bad_destination_url", "bad_policy", "lease_too_short", "bad_config"] },
  ),
  commands(
    words("destinations/{id}", "deleteDestination", "Takes it away for good"),
    DELETE_DESTINATION,
    DeleteDestination,
    { query, method: "delete" },
  ),
  verb("destinations/{id}/pause", "destinationPause", "Holds it until an end", PauseDestination, [
    "bad_pause",
  ]),
  verb("destinations/{id}/resume", "destinationResume", "Ends its pause", ResumeDestination),
  verb("destinations/{id}/limits", "destinationLimits", "Concurrency and rate", SetDestinationLimits, LIMIT),
  verb("destinations/{id}/pin", "destinationPin", "Fixes the adaptive limit", PinAdaptiveLimit, LIMIT),
  verb("destinations/{id}/unpin", "destinationUnpin", "Lets it adapt again", DestinationCommand, LIMIT),
  verb("destinations/{id}/disable", "destinationDisable", "Takes it out of service", DestinationCommand),
  verb("destinations/{id}/enable", "destinationEnable", "Takes it into service again", DestinationCommand),
  verb("destinations/{id}/open-gate", "destinationOpenGate", "Opens a gate before its time", OpenGate),
  verb(
    "destinations/{id}/rotate-secret",
    "destinationRotateSecret",
    "Gives a new secret, shown once",
    RotateSecret,
    ["bad_config"],
    { answer: "RotatedSecret" },
  ),
  verb(
    "destinations/{id}/end-previous-secret",
    "destinationEndPreviousSecret",
    "Ends the previous secret before its time",
    EndPreviousSecret,
  ),
  verb("destinations/{id}/test-event", "destinationTestEvent", "Sends a signed event", DestinationCommand, [
    "too_many_requests",
  ]),
];

const REGIONS: readonly Operation[] = [
  verb("regions/{id}/stop-claims", "regionStopClaims", "Drains the region", RegionCommand),
  verb("regions/{id}/start-claims", "regionStartClaims", "Lets it send again", RegionCommand),
  verb("regions/{id}/defaults", "regionDefaults", "What its rows inherit", SetRegionDefaults, LIMIT),
];

const NEXT_VERSION = 'Version `"0"` is what is built in. What is left out stays as it is in force.';

const POLICIES: readonly Operation[] = [
  {
    ...commands(
      words("policies/objectives", "setObjectives", "The next version of what counts as late in a region"),
      POLICY_COMMANDS.objectives,
      SetObjectives,
      { query, codes: ["bad_policy"] },
    ),
    note: NEXT_VERSION,
  },
  {
    ...commands(
      words("policies/retry", "setRetryPolicy", "The next version of a class's retry policy in a region"),
      POLICY_COMMANDS.retry,
      SetRetryPolicy,
      { query, codes: ["bad_policy", "lease_too_short"] },
    ),
    note: `${NEXT_VERSION} It is refused when a destination's own override cannot be laid over it.`,
  },
];

const DELIVERIES: readonly Operation[] = [
  special({
    ...words("deliveries", "enqueueDeliveries", "Writes deliveries: the weaker contract"),
    note:
      "For programs that cannot use the outbox in their own transaction: the change and the delivery are two commits. " +
      "Repeat with the same Idempotency-Key until there is an answer. 201: something was written; 200: all of it was known.",
    method: "post",
    action: "enqueue",
    query: enqueueQuery,
    body: { schema: enqueueBody },
    status: [201, 200],
    answer: "EnqueuedAnswer",
    headers: { idempotencyKey: "required", location: true },
    codes: [
      "not_found",
      "bad_key",
      "key_mismatch",
      "idempotency_mismatch",
      "request_in_progress",
      "region_unavailable",
      "unknown_tenant",
      "unknown_destination",
      "foreign_destination",
      "wrong_region",
      "bad_event_type",
      "bad_content_type",
      "bad_traceparent",
      "bad_due_time",
      "bad_body",
    ],
  }),
  changes(
    words("deliveries/{id}/reveal", "revealBody", "A payload or response body; each look is audited"),
    "post",
    "reveal_body",
    {
      query: revealQuery,
      body: revealBody,
      answer: "RevealedBody",
      codes: ["not_found", "bad_id", "bad_reason", "state_conflict", "region_unavailable"],
    },
  ),
  verb("deliveries/{id}/retry-now", "deliveryRetryNow", "Makes a delayed one due now", DeliveryCommand),
  verb("deliveries/{id}/cancel", "deliveryCancel", "Ends a waiting one without sending it", DeliveryCommand),
  verb(
    "deliveries/{id}/will-not-replay",
    "deliveryWillNotReplay",
    "Marks a dead letter as one that will not be sent again",
    WillNotReplay,
  ),
  verb("payloads/{id}/erase", "payloadErase", "Erases a body for good", ErasePayload),
  verb(
    "payloads/{id}/restrict",
    "payloadRestrict",
    "Takes a body out of every attempt's reach",
    ErasePayload,
  ),
  verb("payloads/{id}/lift-restriction", "payloadLiftRestriction", "Gives it back", ErasePayload),
];

function group(
  path: string,
  name: keyof typeof GROUP_COMMANDS,
  id: string,
  summary: string,
  schema: z.ZodType,
): Operation {
  return commands(words(`dead-letter-groups/{id}/${path}`, id, summary), GROUP_COMMANDS[name], schema, {
    query,
  });
}

const GROUPS: readonly Operation[] = [
  group("acknowledge", "acknowledge", "groupAcknowledge", "Somebody looks at it", GroupCommand),
  group("assign", "assign", "groupAssign", "Who looks after it, or nobody", AssignGroup),
  group("note", "note", "groupNote", "What the next person should know", NoteGroup),
  group("resolve", "resolve", "groupResolve", "Its cause is gone", GroupCommand),
  group("reopen", "reopen", "groupReopen", "Back to new", GroupCommand),
  group(
    "will-not-replay",
    "willNotReplay",
    "groupWillNotReplay",
    "Its entries will not be sent again, at most 500 a call",
    WillNotReplayGroup,
  ),
];

const SETTINGS: readonly Operation[] = [
  changes(words("saved-views", "createSavedView", "A view of one's own"), "post", "read", {
    query: noQuery,
    body: savedViewBody,
    status: 201,
    answer: "MadeRow",
    codes: ["state_conflict"],
  }),
  changes(words("saved-views/{id}", "deleteSavedView", "Takes one's own view away"), "delete", "read", {
    query: noQuery,
    body: null,
    answer: "MadeRow",
    codes: ["not_found", "bad_id"],
  }),
  changes(words("tokens", "createToken", "A service token, shown once"), "post", "service_tokens", {
    query: noQuery,
    body: tokenBody,
    status: 201,
    answer: "MadeToken",
    codes: ["token_exists"],
  }),
  changes(words("tokens/{id}", "revokeToken", "Ends a service token at once"), "delete", "service_tokens", {
    query: noQuery,
    body: reasonBody,
    answer: "MadeRow",
    codes: ["not_found", "bad_id"],
  }),
  changes(
    words("people", "createPerson", "A person without any grant; a local account's password is shown once"),
    "post",
    "access",
    {
      query: noQuery,
      body: personBody,
      status: 201,
      answer: "MadePerson",
      codes: ["account_exists", "state_conflict"],
    },
  ),
  changes(
    words("people/{id}/disable", "disablePerson", "Ends a person's sessions and serves them no more"),
    "post",
    "access",
    {
      query: noQuery,
      body: reasonBody,
      answer: "MadeRow",
      codes: ["not_found", "bad_id", "state_conflict"],
    },
  ),
  changes(
    words("people/{id}/enable", "enablePerson", "Lets a person sign in again, with the grants they have"),
    "post",
    "access",
    {
      query: noQuery,
      body: reasonBody,
      answer: "MadeRow",
      codes: ["not_found", "bad_id", "state_conflict"],
    },
  ),
  changes(words("people/{id}/grants", "createGrant", "A role in a scope"), "post", "access", {
    query: noQuery,
    body: grantBody,
    status: 201,
    answer: "MadeGrant",
    codes: ["not_found", "bad_id", "state_conflict"],
  }),
  changes(words("people/{id}/grants/{grant}", "deleteGrant", "Takes one grant away"), "delete", "access", {
    query: noQuery,
    body: reasonBody,
    answer: "MadeRow",
    codes: ["not_found", "bad_id"],
  }),
];

export const CHANGES: readonly Operation[] = [
  ...TENANTS,
  ...DESTINATIONS,
  ...DELIVERIES,
  ...GROUPS,
  ...REGIONS,
  ...POLICIES,
  ...SETTINGS,
];
