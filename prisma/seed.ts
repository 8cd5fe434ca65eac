/**
 * Writes the demo's merchants into a region's database: tenants, destinations and their sealed signing secrets.
 * A second run changes nothing that a person may have changed since; it only follows the receiver to another address.
 * It must never print a secret or replace one.
 */
import type { PrismaClient } from "#db/prisma.ts";
import { type Keyring, newSigningSecret, sealSecret } from "#db/secrets.ts";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import {
  destinationIdOf,
  endpointUrl,
  type Merchant,
  type MerchantEndpoint,
  merchantsOf,
  tenantIdOf,
} from "#demo/traffic/merchants.ts";
import { checkDestinationUrl, type SendingRules } from "#domain/destination-url.ts";
import type { Region } from "#domain/region.ts";

export interface SeedOptions {
  readonly prisma: PrismaClient;
  readonly region: Region;
  /** Seals the secrets of destinations that are new. */
  readonly keyring: Keyring;
  /** Origin of the demo's receiver, without a slash at the end. */
  readonly receiverUrl: string;
  /** Where requests may go; default: to this machine too, where the demo's receiver is. */
  readonly rules?: SendingRules;
}

export interface SeedResult {
  /** Rows that were not there before. */
  readonly tenants: number;
  readonly destinations: number;
  /** Destinations whose receiver has moved to another address. */
  readonly moved: number;
}

/** The second secret of a destination in rotation stays live this long. */
const ROTATION_MS = 30 * 24 * 60 * 60 * 1000;

interface Place {
  readonly region: Region;
  readonly merchant: Merchant;
  readonly endpoint: MerchantEndpoint;
  readonly id: string;
  readonly url: string;
}

/**
 * Seeds one region in one transaction. Two seeds at once both succeed.
 * @throws SluiceError `bad_destination_url` when no worker under these rules would send to the receiver
 */
export async function seedRegion({
  prisma,
  region,
  keyring,
  receiverUrl,
  rules = LOCAL_SENDING_RULES,
}: SeedOptions): Promise<SeedResult> {
  const merchants = merchantsOf(region);
  const places = merchants.flatMap((merchant) =>
    merchant.endpoints.map(
      (endpoint): Place => ({
        region,
        merchant,
        endpoint,
        id: destinationIdOf(region, merchant.slug, endpoint.key),
        url: endpointUrl(receiverUrl, region, merchant.slug, endpoint),
      }),
    ),
  );
  for (const { url } of places) checkDestinationUrl(url, rules);
  return prisma.$transaction(async (tx) => {
    const tenants = await tx.tenant.createMany({
      data: merchants.map((merchant) => tenantRow(region, merchant)),
      skipDuplicates: true,
    });
    const destinations = await tx.destination.createMany({
      data: places.map((place) => destinationRow(place, keyring)),
      skipDuplicates: true,
    });
    const standing = await tx.destination.findMany({
      where: { id: { in: places.map(({ id }) => id) } },
      select: { id: true, url: true },
    });
    let moved = 0;
    for (const { id, url } of standing) {
      const wanted = places.find((place) => place.id === id)?.url;
      if (wanted === undefined || url === wanted || !samePath(url, wanted)) continue;
      const { count } = await tx.destination.updateMany({
        where: { id, url },
        data: { url: wanted, version: { increment: 1 } },
      });
      moved += count;
    }
    return { tenants: tenants.count, destinations: destinations.count, moved };
  });
}

function tenantRow(region: Region, { slug, name, weight, concurrencyLimit }: Merchant) {
  return {
    id: tenantIdOf(region, slug),
    region,
    slug,
    name,
    weight,
    concurrencyLimit: concurrencyLimit ?? null,
  };
}

function destinationRow({ region, merchant, endpoint, id, url }: Place, keyring: Keyring) {
  const rotation = endpoint.rotating
    ? {
        secretPrevious: sealSecret(keyring, newSigningSecret()),
        secretPreviousUntil: new Date(Date.now() + ROTATION_MS),
      }
    : {};
  return {
    id,
    region,
    tenantId: tenantIdOf(region, merchant.slug),
    name: endpoint.name,
    url,
    concurrencyLimit: endpoint.concurrencyLimit ?? null,
    ratePerSecond: endpoint.ratePerSecond ?? null,
    rateBurst: endpoint.rateBurst ?? 1,
    secretCurrent: sealSecret(keyring, newSigningSecret()),
    plainSignatureHeader: endpoint.plainSignatureHeader ?? null,
    ...rotation,
  };
}

/** Only the address of the receiver differs: an URL that a person gave is left alone. */
function samePath(url: string, wanted: string): boolean {
  if (!URL.canParse(url)) return false;
  const [one, two] = [new URL(url), new URL(wanted)];
  return one.pathname === two.pathname && one.search === two.search;
}
