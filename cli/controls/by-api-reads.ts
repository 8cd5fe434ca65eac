/**
 * What a verb reads through the API before it changes something: the values that stand, with their version. It gives the
 * very fields, in their order, that the region's database gives, and must never take a region that does not answer for an
 * empty one.
 */
import type { DrainStatus } from "#db/console/commands/drain-status.ts";
import type { DestinationControl, RegionControl, TenantControl } from "#db/console/commands/read-control.ts";
import type {
  DeliveryControlView,
  DestinationControlView,
  RegionControlView,
  TenantControlView,
} from "#db/console/control-views.ts";
import type { DestinationPage } from "#db/console/list-destinations.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { TenantAnswer } from "#db/console/read-tenant.ts";
import { kindOfId } from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, type PublicIdPrefix } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { ApiRefusal, ApiSilence, callApi } from "../api-client.ts";
import type { ApiSettings } from "../api-config.ts";
import { Refused } from "../command.ts";
import type { Controls } from "./commands.ts";

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Longest part of a name that the list searches for. */
const MAX_SEARCH_CHARS = 100;
const PAGE_ROWS = 100;
/** A name that is part of more names than these have is not looked for to the end. */
const MAX_PAGES = 20;
const SHOWN_REFERENCE_CHARS = 80;

/** @param path below /api/v1/, without the region */
type Read = <T>(path: string, query?: Readonly<Record<string, string>>) => Promise<T>;

export function readsByApi(api: ApiSettings, region: Region): Omit<Controls, "region" | "change"> {
  async function read<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
    const parameters = new URLSearchParams({ region, ...query });
    return dataOf<T>(api, await ask(api, `${path}?${parameters}`));
  }
  const delivery = (kind: "delivery" | "dead letter", publicId: string) => {
    checkId("dlv", publicId);
    return or404(kind, publicId, read<DeliveryControlView>(`deliveries/${publicId}/control`));
  };
  return {
    tenant: async (reference) => tenantOf(await or404("tenant", reference, findTenant(read, reference))),
    destination: async (reference) =>
      destinationOf(await or404("destination", reference, findDestination(read, reference))),
    claims: async () => claimsOf(await inWords(read<RegionControlView>(`regions/${region}/control`))),
    drain: () => drainOf(api, region),
    payload: async (reference) => {
      if (kindOfId(reference) !== "pay") return (await delivery("delivery", reference)).payload.id;
      checkId("pay", reference);
      return reference;
    },
    deadLetter: async (publicId) => {
      const { version } = await delivery("dead letter", publicId);
      if (version === null) throw notFound("dead letter", publicId);
      return version;
    },
  };
}

/** A read that did not come has changed nothing, and there is another way when the console is down. */
async function ask(api: ApiSettings, path: string): Promise<unknown> {
  try {
    return await callApi(api, "GET", path);
  } catch (error) {
    if (!(error instanceof ApiSilence)) throw error;
    throw new Refused(`${error.message}; without SLUICE_TOKEN the command goes to the region's database`);
  }
}

/** @throws Refused for a region that does not answer */
function dataOf<T>(api: ApiSettings, answer: unknown): T {
  const given = (answer ?? {}) as Partial<RegionAnswer<T>>;
  if (given.status === "ok") return (given as { data: T }).data;
  if (given.status === "unavailable") {
    const detail = String(given.detail).replace(/\.$/, "");
    throw new Refused(`region ${given.region} does not answer the console: ${detail}`);
  }
  throw new ApiSilence(api, "does not answer as an API", true);
}

/** What the API refuses, in its words. `missing`: what there is to say of a row that is not there. */
async function inWords<T>(reading: Promise<T>, missing?: () => SluiceError): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    throw missing !== undefined && error.code === "not_found" ? missing() : new Refused(error.detail);
  }
}

/** The words of the database's way. */
function or404<T>(kind: string, reference: string, reading: Promise<T>): Promise<T> {
  return inWords(reading, () => notFound(kind, reference));
}

async function findTenant(read: Read, reference: string): Promise<TenantControlView> {
  return read(`tenants/${await tenantIdOf(read, reference)}/control`);
}

async function tenantIdOf(read: Read, reference: string): Promise<string> {
  if (kindOfId(reference) !== null) return checkId("ten", reference);
  // Anything else would be another path.
  if (!SLUG.test(reference)) throw notFound("tenant", reference);
  return (await read<TenantAnswer>(`tenants/${reference}`)).tenant.id;
}

async function findDestination(read: Read, reference: string): Promise<DestinationControlView> {
  const id =
    kindOfId(reference) === null ? await destinationIdOf(read, reference) : checkId("dst", reference);
  return read(`destinations/${id}/control`);
}

/** The list searches for a part of the name; the name itself is compared here. */
async function destinationIdOf(read: Read, reference: string): Promise<string> {
  const slash = reference.indexOf("/");
  const tenant = reference.slice(0, Math.max(slash, 0));
  const name = reference.slice(slash + 1);
  if (!SLUG.test(tenant) || name.trim() === "") throw notFound("destination", reference);
  const found: string[] = [];
  let next: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const list: DestinationPage = await read<DestinationPage>("destinations", {
      tenant,
      q: [...name].slice(0, MAX_SEARCH_CHARS).join(""),
      sort: "name",
      limit: String(PAGE_ROWS),
      ...(next === null ? {} : { cursor: next }),
    });
    found.push(...list.rows.filter((row) => row.name === name).map(({ id }) => id));
    if (found.length > 1)
      throw new SluiceError("state_conflict", "two destinations have this name: use the dst_ id");
    next = list.next;
    if (next === null) break;
  }
  const [id] = found;
  if (id !== undefined) return id;
  if (next === null) throw notFound("destination", reference);
  throw new Refused("too many destinations have this in their names: use the dst_ id");
}

async function drainOf(api: ApiSettings, region: Region): Promise<DrainStatus> {
  const answer = await inWords(ask(api, `regions/${region}/drain`));
  if (typeof (answer as Partial<DrainStatus> | null)?.drained === "boolean") return answer as DrainStatus;
  throw new ApiSilence(api, "does not answer as an API", true);
}

function tenantOf(view: TenantControlView): TenantControl {
  return { ...sharedOf(view), id: view.id, slug: view.slug, weight: view.weight };
}

function destinationOf(view: DestinationControlView): DestinationControl {
  const { disabled, gate, adaptive } = view;
  return {
    ...sharedOf(view),
    id: view.id,
    tenantId: view.tenantId,
    tenantSlug: view.tenantSlug,
    host: view.host,
    ratePerSecond: view.rate.perSecond,
    rateBurst: view.rate.burst,
    disabledAt: disabled?.at ?? null,
    disabledReason: disabled?.reason ?? null,
    disabledBy: disabled?.by ?? null,
    gateUntil: gate?.until ?? null,
    gateWhy: gate?.why ?? null,
    gateStatus: gate?.status ?? null,
    gateRetryAfter: gate?.retryAfter ?? null,
    adaptiveLimit: adaptive.limit,
    adaptiveSafeLimit: adaptive.safeLimit,
    adaptivePinned: adaptive.pinned,
  };
}

function sharedOf({ name, version, pause, concurrency }: TenantControlView | DestinationControlView) {
  return {
    name,
    version,
    pausedUntil: pause.until,
    pauseReason: pause.reason,
    pausedBy: pause.by,
    resumedAt: pause.resumedAt,
    resumeShare: pause.resumeShare,
    concurrencyLimit: concurrency.limit,
    // The cap alone: what the adaptive limit makes of it has a field of its own.
    concurrencyInForce: concurrency.limit ?? concurrency.inherited,
  };
}

function claimsOf({ version, claims, defaults, policy }: RegionControlView): RegionControl {
  return {
    version,
    draining: claims === "stopped",
    tenantConcurrency: defaults.tenantConcurrency,
    destinationConcurrency: defaults.destinationConcurrency,
    maxTenantConcurrency: policy.maxTenantConcurrency,
    maxDestinationConcurrency: policy.maxDestinationConcurrency,
    maxRatePerSecond: policy.maxRatePerSecond,
  };
}

/** @throws SluiceError `bad_id` */
function checkId(prefix: PublicIdPrefix, text: string): string {
  fromPublicId(prefix, text);
  return text;
}

function notFound(kind: string, reference: string): SluiceError {
  const shown = reference.slice(0, SHOWN_REFERENCE_CHARS);
  return new SluiceError("not_found", `no ${kind} "${shown}" in this region`);
}
