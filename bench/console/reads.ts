/** Every read of the API that a page makes, with other rows for each call, so that no call is answered from the one before. */
import type { Known } from "./sql.ts";

export interface Read {
  /** What the row of the table says. */
  readonly name: string;
  /** The path of the n-th call. */
  readonly path: (call: number) => string;
  /** The answer depends on what is known of a page before: a cursor of this read is followed once. */
  readonly paged?: boolean;
}

const REGION = "region=us";
const RANGES = ["15m", "1h", "6h", "24h", "7d"] as const;

/** Filters of the list of deliveries; `$` stands for a value that changes. */
function deliveryFilters(known: Known): [string, (call: number) => string][] {
  const at = (list: readonly string[]) => (call: number) => list[call % list.length] ?? "";
  return [
    ["newest", () => ""],
    ["tenant", (call) => `&tenant=${at(known.tenants)(call)}`],
    ["destination", (call) => `&destination=${at(known.destinations)(call)}`],
    ["state ready", () => "&state=ready"],
    ["state delayed", () => "&state=delayed"],
    ["state leased", () => "&state=leased"],
    ["state delivered", () => "&state=delivered"],
    ["state dead", () => "&state=dead"],
    ["state cancelled", () => "&state=cancelled"],
    ["tenant and state delivered", (call) => `&state=delivered&tenant=${at(known.tenants)(call)}`],
    ["tenant and state delayed", (call) => `&state=delayed&tenant=${at(known.tenants)(call)}`],
    ["reason rejected", () => "&reason=rejected"],
    ["reason tenant_paused", () => "&reason=tenant_paused"],
    ["reason gate", () => "&reason=gate"],
    ["reason destination_disabled", () => "&reason=destination_disabled"],
    ["code 503", () => "&code=503"],
    ["code without a match", () => "&code=418"],
    ["code 429 of a tenant", (call) => `&code=429&tenant=${at(known.tenants)(call)}`],
    ["event type", (call) => `&type=bench.event_${call % 12}`],
    ["event type of a week", (call) => `&type=bench.event_${call % 12}&range=7d`],
    ["event type without a match, of a week", (call) => `&type=bench.never_${call}&range=7d`],
    ["class urgent", () => "&class=urgent"],
    ["attempts 3..", () => "&attempts=3.."],
    ["attempts 3.. of a week", () => "&attempts=3..&range=7d"],
    ["age 1h..", () => "&age=1h.."],
    ["range 1h", () => "&range=1h"],
    ["key", (call) => `&q=${encodeURIComponent(at(known.keys)(call))}`],
    ["id", (call) => `&q=${at(known.archived)(call)}`],
  ];
}

/** In the order of the table. */
export function readsOf(known: Known): Read[] {
  const tenant = at(known.tenants);
  const slug = at(known.slugs);
  const destination = at(known.destinations);
  const series = (name: string, more: (call: number) => string): Read[] =>
    RANGES.map((range) => ({
      name: `series ${range}${name}`,
      path: (call) => `/api/v1/series?${REGION}&range=${range}${more(call)}`,
    }));
  return [
    fixed("overview, both regions", "/api/v1/overview"),
    fixed("overview, one region", `/api/v1/overview?${REGION}`),
    ...series("", () => ""),
    ...series(" of a tenant", (call) => `&tenant=${slug(call)}`),
    ...series(" of a destination", (call) => `&destination=${destination(call)}`),
    ...series(" of a busy tenant", (call) => `&tenant=${at(known.busyTenants)(call)}`),
    ...series(" of a busy destination", (call) => `&destination=${at(known.busyDestinations)(call)}`),
    fixed("tenants, worst first", "/api/v1/tenants", true),
    fixed("tenants by name", "/api/v1/tenants?sort=name", true),
    byId(
      "tenants by part of a name",
      (call) => `/api/v1/tenants?q=${encodeURIComponent(`chant ${call % 90}`)}`,
    ),
    fixed("tenants, paused", "/api/v1/tenants?state=paused"),
    fixed("tenants, urgent", "/api/v1/tenants?class=urgent"),
    byId("tenant", (call) => `/api/v1/tenants/${tenant(call)}?${REGION}`),
    byId("tenant control", (call) => `/api/v1/tenants/${tenant(call)}/control?${REGION}`),
    fixed("destinations, in trouble first", `/api/v1/destinations?${REGION}`, true),
    fixed("destinations by name", `/api/v1/destinations?${REGION}&sort=name`, true),
    fixed("destinations, circuit open", `/api/v1/destinations?${REGION}&state=circuit_open`),
    byId("destinations by part of a name", (call) => `/api/v1/destinations?${REGION}&q=point%20${call % 90}`),
    byId("destinations of a tenant", (call) => `/api/v1/destinations?${REGION}&tenant=${slug(call)}`),
    byId("destination", (call) => `/api/v1/destinations/${destination(call)}?${REGION}`),
    byId("destination attempts", (call) => `/api/v1/destinations/${destination(call)}/attempts?${REGION}`),
    byId("destination control", (call) => `/api/v1/destinations/${destination(call)}/control?${REGION}`),
    ...readsOfRows(known),
  ];
}

function fixed(name: string, path: string, paged = false): Read {
  return { name, path: () => path, paged };
}

function byId(name: string, path: (call: number) => string): Read {
  return { name, path };
}

function at(list: readonly string[]): (call: number) => string {
  return (call) => list[call % list.length] ?? "";
}

/** Deliveries, dead letters, and what stands beside them. */
function readsOfRows(known: Known): Read[] {
  const slug = at(known.slugs);
  return [
    ...deliveryFilters(known).map(([name, more]) => ({
      name: `deliveries, ${name}`,
      path: (call: number) => `/api/v1/deliveries?${REGION}${more(call)}`,
      paged: name === "newest" || name === "state delivered",
    })),
    byId("delivery, live", (call) => `/api/v1/deliveries/${at(known.live)(call)}`),
    byId("delivery, dead", (call) => `/api/v1/deliveries/${at(known.dead)(call)}`),
    byId("delivery, archived", (call) => `/api/v1/deliveries/${at(known.archived)(call)}`),
    byId("delivery control", (call) => `/api/v1/deliveries/${at(known.live)(call)}/control?${REGION}`),
    fixed("dead-letter groups", `/api/v1/dead-letter-groups?${REGION}`, true),
    byId(
      "dead-letter groups of a tenant",
      (call) => `/api/v1/dead-letter-groups?${REGION}&tenant=${slug(call)}`,
    ),
    byId("dead-letter group", (call) => `/api/v1/dead-letter-groups/${at(known.groups)(call)}?${REGION}`),
    fixed("dead letters", `/api/v1/dead-letters?${REGION}`, true),
    byId(
      "dead letters of a group",
      (call) => `/api/v1/dead-letters?${REGION}&group=${at(known.groups)(call)}`,
    ),
    fixed("dead letters, code without a match", `/api/v1/dead-letters?${REGION}&code=418`),
    fixed("replays", `/api/v1/replays?${REGION}`),
    fixed("replays summary", "/api/v1/replays/summary"),
    fixed("regions", "/api/v1/regions"),
    fixed("region control", "/api/v1/regions/us/control"),
    fixed("audit", `/api/v1/audit?${REGION}`, true),
    byId("audit of a tenant", (call) => `/api/v1/audit?${REGION}&tenant=${slug(call)}`),
    fixed("audit of an action", `/api/v1/audit?${REGION}&action=tenant.pause`),
    fixed("active controls", "/api/v1/active-controls"),
    fixed("scope", `/api/v1/scope?${REGION}`),
    byId("search by name", (call) => `/api/v1/search?q=merchant%20${call % 90}`),
    byId("search by key", (call) => `/api/v1/search?q=${encodeURIComponent(at(known.keys)(call))}`),
    byId("search by id", (call) => `/api/v1/search?q=${at(known.live)(call)}`),
    fixed("policies", "/api/v1/policies"),
    fixed("me", "/api/v1/me"),
    fixed("saved views", "/api/v1/saved-views?page=deliveries"),
    fixed("people", "/api/v1/people"),
    fixed("tokens", "/api/v1/tokens"),
    fixed("about", "/api/v1/about"),
  ];
}
