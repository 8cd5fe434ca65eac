/** Every success answer of the API by its name, and the shapes that they are made of. A test holds real answers to them. */
import { z } from "zod";
import * as base from "./responses-base.ts";
import * as controls from "./responses-controls.ts";
import * as deadLetters from "./responses-dead-letters.ts";
import * as deliveries from "./responses-deliveries.ts";
import * as enqueued from "./responses-enqueue.ts";
import * as overview from "./responses-overview.ts";
import * as regions from "./responses-regions.ts";
import * as replays from "./responses-replays.ts";
import * as replaysMore from "./responses-replays-more.ts";
import * as settings from "./responses-settings.ts";
import * as shared from "./responses-shared.ts";
import * as tenants from "./responses-tenants.ts";

const { regionAnswer } = base;

export const ANSWERS = {
  OverviewAnswer: overview.overview,
  SeriesAnswer: regionAnswer(overview.series),
  ActiveControlsAnswer: overview.activeControlsAnswer,

  DeliveryPageAnswer: regionAnswer(deliveries.deliveryPage),
  DeliveryAnswer: deliveries.deliveryAnswer,
  RevealedBody: deliveries.revealedBody,
  EnqueuedAnswer: enqueued.enqueuedAnswer,

  TenantControlAnswer: regionAnswer(controls.tenantControlView),
  DestinationControlAnswer: regionAnswer(controls.destinationControlView),
  DeliveryControlAnswer: regionAnswer(controls.deliveryControlView),
  RegionControlAnswer: regionAnswer(controls.regionControlView),
  DrainStatus: controls.drainStatus,

  TenantList: tenants.tenantList,
  TenantAnswer: regionAnswer(tenants.tenantAnswer),
  DestinationPageAnswer: regionAnswer(tenants.destinationPage),
  DestinationAnswer: regionAnswer(tenants.destinationAnswer),
  DestinationAttemptsAnswer: regionAnswer(tenants.destinationAttempts),
  ScopeAnswer: regionAnswer(tenants.scope),

  DeadLetterPageAnswer: regionAnswer(deadLetters.deadLetterPage),
  DeadLetterGroupPageAnswer: regionAnswer(deadLetters.deadLetterGroupPage),
  DeadLetterGroupAnswer: regionAnswer(deadLetters.deadLetterGroupView),
  AssigneesAnswer: deadLetters.assignees,

  ReplayPageAnswer: regionAnswer(replays.replayPage),
  ReplayAnswer: regionAnswer(replays.replayDetail),
  ReplayItemPageAnswer: regionAnswer(replays.replayItemPage),
  ReplayReportAnswer: regionAnswer(replays.replayReport),
  ReplayPreviewAnswer: regionAnswer(replays.replayPreview),
  ReplaySummaryAnswer: replaysMore.replaySummaryAnswer,
  ReplaySeriesAnswer: regionAnswer(replaysMore.replaySeries),
  ReplayPolicyAnswer: regionAnswer(replaysMore.replayPolicyView),

  RegionsAnswer: regions.regions,
  PoliciesAnswer: regions.policiesAnswer,
  AuditPageAnswer: regionAnswer(regions.auditPage),
  AuditActionsAnswer: regionAnswer(z.object({ actions: z.array(z.string()) })),

  SearchAnswer: settings.searchAnswer,
  SavedViewsAnswer: settings.savedViews,
  PeopleAnswer: settings.people,
  TokensAnswer: z.object({ tokens: z.array(settings.tokenEntry) }),
  AboutAnswer: settings.about,
  ProfileAnswer: settings.signedIn,

  CommandAnswer: base.commandAnswer,
  RotatedSecret: base.rotatedSecret,
  CreatedTenant: base.createdTenant,
  CreatedDestination: base.createdDestination,
  CreatedReplay: base.createdReplay,
  MadeRow: base.madeRow,
  MadeToken: base.madeToken,
  MadeGrant: base.madeGrant,
  MadePerson: base.madePerson,
} as const satisfies Record<string, z.ZodType>;

export type AnswerName = keyof typeof ANSWERS;

const ROOMS = [
  base,
  shared,
  overview,
  deliveries,
  controls,
  tenants,
  deadLetters,
  replays,
  replaysMore,
  regions,
  settings,
  enqueued,
];

/** Every schema with the name under which the document holds it; a shape that stands in several answers stands once. */
export function namedSchemas(): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>();
  const named = new Set<z.ZodType>();
  const taken = new Set<string>();
  const add = (wanted: string, schema: z.ZodType) => {
    if (named.has(schema)) return;
    // An answer of a region and what it wraps may have one name.
    const id = taken.has(wanted) ? `${wanted}Data` : wanted;
    named.add(schema);
    taken.add(id);
    registry.add(schema, { id });
  };
  for (const [id, schema] of Object.entries(ANSWERS)) add(id, schema);
  for (const room of ROOMS) {
    for (const [name, schema] of Object.entries(room)) {
      if (schema instanceof z.ZodType) add(`${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, schema);
    }
  }
  return registry;
}
