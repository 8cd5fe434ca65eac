/**
 * Which entries a new batch begins with, as the address of the drafting page says it. Pure. A selection is never widened:
 * what the address does not say in a way that the API takes is no selection, and a relative time is made absolute where it
 * was chosen.
 */
import type { ReplaySelection } from "#domain/commands-replay.ts";
import type { DeadReason } from "#domain/delivery.ts";
import { DEAD_REASONS } from "#domain/delivery.ts";
import type { Region } from "#domain/region.ts";

/** The parameters of /replays/new beside the region. */
export const SELECTION_PARAMETERS = [
  "group",
  "tenant",
  "destination",
  "reason",
  "from",
  "until",
  "ids",
  "follow",
] as const;
export type SelectionParameter = (typeof SELECTION_PARAMETERS)[number];
export type SelectionAddress = Partial<Record<SelectionParameter, string | null>>;

const GROUP = /^dlg_[0-9a-f]{32}$/;
const TENANT = /^ten_[0-9a-f]{32}$/;
const DESTINATION = /^dst_[0-9a-f]{32}$/;
const DELIVERY = /^dlv_[0-9a-f]{32}$/;
const BATCH = /^rpl_[0-9a-f]{32}$/;
/** Ticked rows of one page; more of them do not fit an address. */
export const MAX_TICKED = 50;

const RANGE_MS: Readonly<Record<string, number>> = {
  "1h": 3_600_000,
  "6h": 21_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
};

/** Null when the address selects nothing that may become a batch. */
export function selectionOf(address: SelectionAddress): ReplaySelection | null {
  const { group, ids, follow } = address;
  if (follow) return BATCH.test(follow) ? { deadAgainOf: follow } : null;
  if (group) {
    if (!GROUP.test(group)) return null;
    const until = instant(address.until);
    return until === null ? { groupId: group } : { groupId: group, until };
  }
  if (ids) {
    const each = ids.split(",");
    return each.length <= MAX_TICKED && each.every((id) => DELIVERY.test(id)) ? { ids: each } : null;
  }
  return filterOf(address);
}

function filterOf({ tenant, destination, reason, from, until }: SelectionAddress): ReplaySelection | null {
  if (tenant && !TENANT.test(tenant)) return null;
  if (destination && !DESTINATION.test(destination)) return null;
  if (reason && !(DEAD_REASONS as readonly string[]).includes(reason)) return null;
  if (!tenant && !destination && !reason) return null;
  const [begin, end] = [instant(from), instant(until)];
  return {
    filter: {
      ...(tenant ? { tenantId: tenant } : {}),
      ...(destination ? { destinationId: destination } : {}),
      ...(reason ? { reason: reason as DeadReason } : {}),
      ...(begin === null ? {} : { from: begin }),
      ...(end === null ? {} : { until: end }),
    },
  };
}

function instant(text: string | null | undefined): string | null {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** The address of the drafting page. */
export function newReplayPath(region: Region, address: SelectionAddress): string {
  const query = new URLSearchParams({ region });
  for (const name of SELECTION_PARAMETERS) {
    const value = address[name];
    if (value) query.set(name, value);
  }
  return `/replays/new?${query.toString()}`;
}

/** Filters of the entries list that a batch can be asked for by, and those that only say which page is shown. */
const USED_FILTERS = new Set([
  "region",
  "tenant",
  "destination",
  "reason",
  "range",
  "group",
  "marked",
  "cursor",
  "limit",
]);
const FILTER_LABELS: Readonly<Record<string, string>> = { cause: "Class", code: "Code" };

export type FilterDraft = { path: string; refusal: null } | { path: null; refusal: string };

/**
 * The drafting page for what a list of entries shows, or why there is none.
 * @param asOf server's time of the list: entries that die later are not meant
 * @param tenantId of the chosen tenant, whose filter may be its slug
 */
export function draftFromFilters(
  region: Region,
  filters: Readonly<Record<string, string | null | undefined>>,
  asOf: string,
  tenantId: string | null,
): FilterDraft {
  if (filters.marked === "yes") return refused("What is marked as will not replay is in no batch.");
  // One that is not known here would be left out, and the batch would hold more than the list shows.
  const others = Object.keys(filters).filter((name) => filters[name] && !USED_FILTERS.has(name));
  if (others.length > 0) {
    const names = others.map((name) => FILTER_LABELS[name] ?? name).join(" and ");
    return refused(
      `A batch is not drafted by ${names}. Open the cause instead, tick rows, or clear ${names}.`,
    );
  }
  const rangeMs = RANGE_MS[filters.range ?? ""];
  const span = {
    from: rangeMs === undefined ? null : new Date(Date.parse(asOf) - rangeMs).toISOString(),
    until: asOf,
  };
  if (filters.group) {
    if (filters.tenant || filters.destination || filters.reason || rangeMs !== undefined)
      return refused("A cause is drafted as a whole. Clear the other filters, or tick rows.");
    return { path: newReplayPath(region, { group: filters.group, until: asOf }), refusal: null };
  }
  if (!filters.tenant && !filters.destination && !filters.reason)
    return refused("Choose a tenant, a destination or a reason first: a batch is never everything.");
  if (filters.tenant && tenantId === null) return refused("The tenant is not known yet.");
  const address = { tenant: tenantId, destination: filters.destination, reason: filters.reason, ...span };
  return { path: newReplayPath(region, dropUndefined(address)), refusal: null };
}

function refused(refusal: string): FilterDraft {
  return { path: null, refusal };
}

function dropUndefined(address: Record<string, string | null | undefined>): SelectionAddress {
  return Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined));
}
