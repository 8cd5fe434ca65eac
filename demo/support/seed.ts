/**
 * Writes a region's support desk: its tenant, two destinations at the receiving endpoint, and its standing tickets.
 * A second run changes nothing that a person may have changed since; it only follows the endpoint to another address.
 * It must never print a secret or replace one.
 */
import type { PrismaClient } from "#db/prisma.ts";
import { type Keyring, newSigningSecret, sealSecret } from "#db/secrets.ts";
import type { Region } from "#domain/region.ts";
import {
  DESK_CONCURRENCY,
  DESK_ENDPOINTS,
  deskOf,
  endpointPath,
  STANDING_TICKETS,
  standingTicketId,
  subjectOf,
} from "./desk.ts";

export interface SupportSeedOptions {
  readonly prisma: PrismaClient;
  readonly region: Region;
  /** Seals the secrets of destinations that are new. */
  readonly keyring: Keyring;
  /** Origin of the receiving endpoint, without a slash at the end. */
  readonly supportUrl: string;
}

export interface SupportSeedResult {
  /** Rows that were not there before. */
  readonly tenants: number;
  readonly destinations: number;
  readonly tickets: number;
  /** Destinations whose endpoint has moved to another address. */
  readonly moved: number;
}

const TRANSACTION = { timeout: 20_000, maxWait: 5_000 };

/** Seeds one region in one transaction. Two seeds at once both succeed. */
export async function seedSupport(options: SupportSeedOptions): Promise<SupportSeedResult> {
  const { prisma, region, keyring, supportUrl } = options;
  const desk = deskOf(region);
  const places = DESK_ENDPOINTS.map(({ key, name, concurrencyLimit }) => {
    const id = desk.destinationIds[key];
    return { id, name, concurrencyLimit, url: supportUrl + endpointPath(region, id) };
  });
  return prisma.$transaction(async (tx) => {
    const tenants = await tx.tenant.createMany({
      data: [
        {
          id: desk.tenantId,
          region,
          slug: desk.slug,
          name: desk.name,
          weight: 2,
          concurrencyLimit: DESK_CONCURRENCY,
        },
      ],
      skipDuplicates: true,
    });
    const destinations = await tx.destination.createMany({
      data: places.map((place) => ({
        ...place,
        region,
        tenantId: desk.tenantId,
        secretCurrent: sealSecret(keyring, newSigningSecret()),
      })),
      skipDuplicates: true,
    });
    const tickets = await tx.demoSupportTicket.createMany({
      data: standingTickets(region, desk.tenantId, desk.destinationIds.tickets),
      skipDuplicates: true,
    });
    let moved = 0;
    for (const { id, url } of places) {
      const standing = await tx.destination.findUnique({ where: { id }, select: { url: true } });
      if (standing === null || standing.url === url || !samePath(standing.url, url)) continue;
      const { count } = await tx.destination.updateMany({
        where: { id, url: standing.url },
        data: { url, version: { increment: 1 } },
      });
      moved += count;
    }
    return { tenants: tenants.count, destinations: destinations.count, tickets: tickets.count, moved };
  }, TRANSACTION);
}

/** Already enriched, so that the first tick does not start with thousands of them. */
function standingTickets(region: Region, tenantId: string, destinationId: string) {
  return Array.from({ length: STANDING_TICKETS }, (_, number) => ({
    id: standingTicketId(region, number),
    region,
    tenantId,
    destinationId,
    subject: subjectOf(number),
    enrichedVersion: 1,
  }));
}

/** Only the address differs: an URL that a person gave is left alone. */
function samePath(url: string, wanted: string): boolean {
  if (!URL.canParse(url)) return false;
  const [one, two] = [new URL(url), new URL(wanted)];
  return one.pathname === two.pathname && one.search === two.search;
}
