/**
 * Who the demo's support desks are: one tenant in each region, its two endpoints and its standing tickets. The seed writes
 * them, the traffic makes business for them. Data and pure functions only; the names are invented.
 */
import { destinationIdOf, stableUuid, tenantIdOf } from "#demo/traffic/merchants.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";

/** `tickets` hears of follow-ups and enrichment, `search` of the bulk indexing batches. */
export const DESK_ENDPOINTS = [
  { key: "tickets", name: "Tickets", concurrencyLimit: null },
  { key: "search", name: "Search index", concurrencyLimit: 6 },
] as const;

export type DeskEndpoint = (typeof DESK_ENDPOINTS)[number]["key"];

/** Tickets that are always there, so that a batch has something to index: thousands of deliveries of one tenant. */
export const STANDING_TICKETS = 2_000;
/** Of the whole desk, over both endpoints: the bulk batch and the urgent follow-ups share it. */
export const DESK_CONCURRENCY = 8;

const DESKS: Readonly<Record<Region, { slug: string; name: string }>> = {
  us: { slug: "lakeside-help", name: "Lakeside Help Desk" },
  eu: { slug: "zeitnah-support", name: "Zeitnah Support" },
};

const SUBJECTS = [
  "Card was declined twice",
  "Invoice shows the wrong VAT id",
  "Cannot sign in after the move",
  "Refund has not arrived",
  "Parcel tracking stopped",
  "Webhook settings are greyed out",
  "Two-factor code never comes",
  "Plan change took effect too early",
] as const;

export interface Desk {
  readonly region: Region;
  readonly slug: string;
  readonly name: string;
  readonly tenantId: string;
  readonly destinationIds: Readonly<Record<DeskEndpoint, string>>;
}

/** The region's desk, with the same ids in every seed of every clone. */
export function deskOf(region: Region): Desk {
  const { slug, name } = DESKS[region];
  return {
    region,
    slug,
    name,
    tenantId: tenantIdOf(region, slug),
    destinationIds: {
      tickets: destinationIdOf(region, slug, "tickets"),
      search: destinationIdOf(region, slug, "search"),
    },
  };
}

/** Path of the receiving endpoint that belongs to a destination. */
export function endpointPath(region: Region, destinationId: string): string {
  return `/demo/support/${region}/${toPublicId("dst", destinationId)}`;
}

/** The id of a standing ticket. @param number from 0 */
export function standingTicketId(region: Region, number: number): string {
  return stableUuid(`ticket ${region}/${number}`);
}

/** What a ticket is about, by its number. */
export function subjectOf(number: number): string {
  return `${SUBJECTS[number % SUBJECTS.length]} (#${number + 1})`;
}
