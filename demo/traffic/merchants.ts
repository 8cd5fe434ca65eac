/**
 * Who the demo's customers are, in both regions: their sizes, their endpoints, and how those behave. The seed writes
 * them, the traffic makes business for them. Data and pure functions only; the names are invented.
 */
import { createHash } from "node:crypto";
import type { Region } from "#domain/region.ts";

/** An endpoint of a merchant: what the receiver's path makes of it, and what we were told about it. */
export interface MerchantEndpoint {
  /** Last part of the receiver's name, such as `orders` in `us/brightcart/orders`. */
  readonly key: string;
  readonly name: string;
  /** Part of the receiver's path in front of the name; see demo/receiver/README.md. */
  readonly behaviour: string;
  /** Query of the path, without the question mark. */
  readonly query?: string;
  /** Deliveries per second that the traffic aims at while the region's rate is the default of 25. */
  readonly perSecond: number;
  readonly ratePerSecond?: number;
  readonly rateBurst?: number;
  readonly concurrencyLimit?: number;
  /** Its business comes all at once, every 20 seconds. */
  readonly bursts?: boolean;
  /** Has a second live secret, as in the middle of a rotation. */
  readonly rotating?: boolean;
  /** Wants a plain signature in this header beside the standard one. */
  readonly plainSignatureHeader?: string;
}

export interface Merchant {
  readonly slug: string;
  readonly name: string;
  readonly currency: string;
  /** Share of the region beside others. */
  readonly weight: number;
  readonly concurrencyLimit?: number;
  readonly endpoints: readonly MerchantEndpoint[];
}

/** The twelve roles that both regions have; a region gives each a name. */
type Role = Omit<Merchant, "slug" | "name" | "currency">;

const LARGE: Role = {
  weight: 4,
  endpoints: [
    { key: "orders", name: "Orders", behaviour: "ok", query: "ms=20", perSecond: 4 },
    { key: "settlements", name: "Settlements", behaviour: "ok", query: "ms=40", perSecond: 2 },
    { key: "receipts", name: "Receipts", behaviour: "ok", query: "ms=15", perSecond: 2 },
  ],
};
const MIDDLE: Role = {
  weight: 2,
  endpoints: [
    { key: "payments", name: "Payments", behaviour: "ok", query: "ms=30", perSecond: 2, rotating: true },
    {
      key: "disputes",
      name: "Disputes",
      behaviour: "ok",
      query: "ms=60",
      perSecond: 0.5,
      plainSignatureHeader: "x-merchant-signature",
    },
  ],
};
/** Says what it can take, and we keep to it. */
const LIMITED_AND_TOLD: Role = {
  weight: 1,
  endpoints: [
    { key: "ledger", name: "Ledger", behaviour: "limit/5/5", perSecond: 2, ratePerSecond: 5, rateBurst: 5 },
  ],
};
/** The same endpoint, but nobody told us: its 429s do. */
const LIMITED_UNTOLD: Role = {
  weight: 1,
  endpoints: [{ key: "events", name: "Events", behaviour: "limit/5/2", perSecond: 0.8, concurrencyLimit: 2 }],
};
const NOISY: Role = {
  weight: 1,
  concurrencyLimit: 12,
  endpoints: [
    { key: "trips", name: "Trips", behaviour: "ok", query: "ms=50", perSecond: 3, concurrencyLimit: 8 },
    {
      key: "invoices",
      name: "Invoices",
      behaviour: "ok",
      query: "ms=50",
      perSecond: 6,
      concurrencyLimit: 8,
      bursts: true,
    },
  ],
};
const THROTTLES_WITH_SECONDS: Role = {
  weight: 1,
  endpoints: [
    { key: "bookings", name: "Bookings", behaviour: "429/seconds/3", query: "times=1", perSecond: 0.15 },
  ],
};
const THROTTLES_WITH_A_DATE: Role = {
  weight: 1,
  endpoints: [{ key: "rides", name: "Rides", behaviour: "429/date/5", query: "times=1", perSecond: 0.1 }],
};
const THROTTLES_MALFORMED: Role = {
  weight: 1,
  endpoints: [
    {
      key: "renewals",
      name: "Renewals",
      behaviour: "429/malformed",
      query: "times=1&value=in+a+while",
      perSecond: 0.1,
    },
  ],
};
const ALWAYS_FAILS: Role = {
  weight: 1,
  endpoints: [
    {
      key: "hooks",
      name: "Webhooks",
      behaviour: "always/500",
      query: "message=upstream+unavailable",
      perSecond: 0.04,
    },
  ],
};
const REJECTS: Role = {
  weight: 1,
  endpoints: [
    {
      key: "catalog",
      name: "Catalog",
      behaviour: "reject/422",
      query: "message=unknown+account",
      perSecond: 0.04,
    },
  ],
};
const HANGS_UP: Role = {
  weight: 1,
  endpoints: [{ key: "tickets", name: "Tickets", behaviour: "hangup", perSecond: 0.3 }],
};
const SLOW: Role = {
  weight: 1,
  endpoints: [{ key: "claims", name: "Claims", behaviour: "slow/2500", perSecond: 0.5, concurrencyLimit: 3 }],
};

const MERCHANTS: Readonly<Record<Region, readonly Merchant[]>> = {
  us: [
    { slug: "northgate-pay", name: "Northgate Pay", currency: "USD", ...LARGE },
    { slug: "brightcart", name: "BrightCart", currency: "USD", ...MIDDLE },
    { slug: "maple-street-bank", name: "Maple Street Bank", currency: "USD", ...LIMITED_AND_TOLD },
    { slug: "coppertrail", name: "Coppertrail Outfitters", currency: "USD", ...LIMITED_UNTOLD },
    { slug: "fleetwell", name: "Fleetwell Fuel Cards", currency: "USD", ...NOISY },
    { slug: "harborlight", name: "Harborlight Hotels", currency: "USD", ...THROTTLES_WITH_SECONDS },
    { slug: "juniper-rides", name: "Juniper Rides", currency: "USD", ...THROTTLES_WITH_A_DATE },
    { slug: "boxwise", name: "Boxwise Subscriptions", currency: "USD", ...THROTTLES_MALFORMED },
    { slug: "redwood-rentals", name: "Redwood Rentals", currency: "USD", ...ALWAYS_FAILS },
    { slug: "summit-gear", name: "Summit Gear Exchange", currency: "USD", ...REJECTS },
    { slug: "bluebird-tickets", name: "Bluebird Tickets", currency: "USD", ...HANGS_UP },
    { slug: "tidewater-care", name: "Tidewater Care", currency: "USD", ...SLOW },
  ],
  eu: [
    { slug: "nordlicht-pay", name: "Nordlicht Pay", currency: "EUR", ...LARGE },
    { slug: "marche-vert", name: "Marché Vert", currency: "EUR", ...MIDDLE },
    { slug: "kredietbeek", name: "Kredietbeek", currency: "EUR", ...LIMITED_AND_TOLD },
    { slug: "fjordhandel", name: "Fjordhandel", currency: "NOK", ...LIMITED_UNTOLD },
    { slug: "rapido-envios", name: "Rápido Envíos", currency: "EUR", ...NOISY },
    { slug: "alpenruh", name: "Alpenruh Hotels", currency: "CHF", ...THROTTLES_WITH_SECONDS },
    { slug: "linha-azul", name: "Linha Azul", currency: "EUR", ...THROTTLES_WITH_A_DATE },
    { slug: "abonneerbaar", name: "Abonneerbaar", currency: "EUR", ...THROTTLES_MALFORMED },
    { slug: "loca-sud", name: "Loca Sud", currency: "EUR", ...ALWAYS_FAILS },
    { slug: "bottega-nove", name: "Bottega Nove", currency: "EUR", ...REJECTS },
    { slug: "kinokasse", name: "Kinokasse", currency: "EUR", ...HANGS_UP },
    { slug: "praxis-am-park", name: "Praxis am Park", currency: "EUR", ...SLOW },
  ],
};

/** The merchants of a region, the largest first. */
export function merchantsOf(region: Region): readonly Merchant[] {
  return MERCHANTS[region];
}

/** The same id in every seed of every clone: a UUID made of the region and the slug. */
export function tenantIdOf(region: Region, slug: string): string {
  return stableUuid(`tenant ${region}/${slug}`);
}

/** The id of an endpoint's destination, stable like the tenant's. */
export function destinationIdOf(region: Region, slug: string, key: string): string {
  return stableUuid(`destination ${region}/${slug}/${key}`);
}

/** The name under which the receiver counts the endpoint. */
export function receiverNameOf(region: Region, slug: string, key: string): string {
  return `${region}/${slug}/${key}`;
}

/** Where the endpoint's requests go. @param receiverUrl origin without a slash at the end */
export function endpointUrl(
  receiverUrl: string,
  region: Region,
  slug: string,
  endpoint: MerchantEndpoint,
): string {
  const query = endpoint.query === undefined ? "" : `?${endpoint.query}`;
  return `${receiverUrl}/${endpoint.behaviour}/${receiverNameOf(region, slug, endpoint.key)}${query}`;
}

/** Version 8: a UUID of one's own making. The same text gives the same UUID in every clone. */
export function stableUuid(text: string): string {
  const hex = createHash("sha256").update(`sluice demo ${text}`, "utf8").digest("hex");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
