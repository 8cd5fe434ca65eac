/** Every route that only reads. The schemas are those by which the routes themselves read their queries. */
import { commandQuery, regionCommandQuery } from "../command-schemas.ts";
import {
  auditExportQuery,
  auditQuery,
  deadLetterGroupsExportQuery,
  deadLetterGroupsQuery,
  deadLettersExportQuery,
  deadLettersQuery,
  oneOfRegionQuery,
  regionsQuery,
} from "../dead-letters-schemas.ts";
import { deliveriesExportQuery, deliveriesQuery } from "../deliveries-schemas.ts";
import { noQuery, overviewQuery, scopeQuery } from "../schemas.ts";
import { seriesQuery } from "../series-schemas.ts";
import { activeControlsQuery, policiesQuery, savedViewsQuery, searchQuery } from "../shell-schemas.ts";
import { destinationsQuery, regionQuery, tenantsQuery } from "../tenants-schemas.ts";
import { file, type Operation, read } from "./operation.ts";

const V1 = "/api/v1";
const OF_LIST = ["not_found", "bad_id", "bad_cursor"] as const;
const OF_ROW = ["not_found", "bad_id"] as const;

const words = (path: string, id: string, summary: string) => ({ path: `${V1}/${path}`, id, summary });

const OVERVIEW: readonly Operation[] = [
  read(
    words("overview", "readOverview", "The numbers of every region in scope"),
    overviewQuery,
    "OverviewAnswer",
    OF_ROW,
  ),
  read(
    words("series", "readSeries", "Ages, outcomes and dead letters over a range, with gaps as gaps"),
    seriesQuery,
    "SeriesAnswer",
    OF_ROW,
  ),
  read(
    words("active-controls", "readActiveControls", "What is held on purpose at this moment"),
    activeControlsQuery,
    "ActiveControlsAnswer",
    OF_ROW,
  ),
  read(
    words("search", "search", "Tenants, destinations and deliveries by name, host, id or key"),
    searchQuery,
    "SearchAnswer",
    OF_ROW,
  ),
];

const TENANTS: readonly Operation[] = [
  read(words("tenants", "listTenants", "One page of tenants"), tenantsQuery, "TenantList", OF_LIST),
  read(
    words("tenants/{id}", "readTenant", "One tenant with its numbers"),
    regionQuery,
    "TenantAnswer",
    OF_ROW,
  ),
  read(
    words(
      "tenants/{id}/control",
      "readTenantControl",
      "What its controls stand at, and what the caller may do",
    ),
    commandQuery,
    "TenantControlAnswer",
    OF_ROW,
  ),
  read(
    words("destinations", "listDestinations", "One page of a region's destinations"),
    destinationsQuery,
    "DestinationPageAnswer",
    OF_LIST,
  ),
  read(
    words("destinations/{id}", "readDestination", "One destination with its health"),
    regionQuery,
    "DestinationAnswer",
    OF_ROW,
  ),
  read(
    words("destinations/{id}/attempts", "listDestinationAttempts", "The newest attempts at one destination"),
    regionQuery,
    "DestinationAttemptsAnswer",
    OF_ROW,
  ),
  read(
    words(
      "destinations/{id}/control",
      "readDestinationControl",
      "What its controls stand at, and what the caller may do",
    ),
    commandQuery,
    "DestinationControlAnswer",
    OF_ROW,
  ),
  read(
    words("scope", "readScope", "Names of a region's tenants and destinations"),
    scopeQuery,
    "ScopeAnswer",
    OF_ROW,
  ),
];

const DELIVERIES: readonly Operation[] = [
  read(
    words("deliveries", "listDeliveries", "One page of a region's deliveries"),
    deliveriesQuery,
    "DeliveryPageAnswer",
    OF_LIST,
  ),
  file(
    words("deliveries/export", "exportDeliveries", "The list of deliveries as a file"),
    deliveriesExportQuery,
  ),
  read(
    words("deliveries/{id}", "readDelivery", "One delivery with its attempts and what blocks it now"),
    noQuery,
    "DeliveryAnswer",
    [...OF_ROW, "region_unavailable"],
  ),
  read(
    words(
      "deliveries/{id}/control",
      "readDeliveryControl",
      "What may be done with it, and what the caller may do",
    ),
    commandQuery,
    "DeliveryControlAnswer",
    OF_ROW,
  ),
];

const DEAD_LETTERS: readonly Operation[] = [
  read(
    words("dead-letters", "listDeadLetters", "One page of a region's dead letters"),
    deadLettersQuery,
    "DeadLetterPageAnswer",
    OF_LIST,
  ),
  file(
    words("dead-letters/export", "exportDeadLetters", "The list of dead letters as a file"),
    deadLettersExportQuery,
  ),
  read(
    words("dead-letter-groups", "listDeadLetterGroups", "A region's dead letters by cause"),
    deadLetterGroupsQuery,
    "DeadLetterGroupPageAnswer",
    OF_LIST,
  ),
  file(
    words("dead-letter-groups/export", "exportDeadLetterGroups", "The causes as a file"),
    deadLetterGroupsExportQuery,
  ),
  read(
    words("dead-letter-groups/{id}", "readDeadLetterGroup", "One cause, its newest entries, what was done"),
    oneOfRegionQuery,
    "DeadLetterGroupAnswer",
    OF_ROW,
  ),
  read(
    words(
      "dead-letter-groups/{id}/assignees",
      "listAssignees",
      "The people who can be named for a cause, because they may see it",
    ),
    oneOfRegionQuery,
    "AssigneesAnswer",
    [...OF_ROW, "region_unavailable"],
    "dead_letter_triage",
  ),
];

const REGIONS: readonly Operation[] = [
  read(
    words("regions", "readRegions", "How every region in scope runs"),
    regionsQuery,
    "RegionsAnswer",
    OF_ROW,
  ),
  read(
    words(
      "regions/{id}/control",
      "readRegionControl",
      "Claims, leases and defaults, and what the caller may do",
    ),
    regionCommandQuery,
    "RegionControlAnswer",
    OF_ROW,
  ),
  read(
    words("regions/{id}/drain", "readRegionDrain", "Its leases, counted behind a barrier"),
    regionCommandQuery,
    "DrainStatus",
    ["not_found", "region_unavailable", "overloaded"],
    "region_claims",
  ),
  read(words("audit", "listAudit", "One page of a region's audit"), auditQuery, "AuditPageAnswer", OF_LIST),
  read(
    words("audit/actions", "listAuditActions", "The actions that stand in a region's audit"),
    oneOfRegionQuery,
    "AuditActionsAnswer",
    OF_ROW,
  ),
  file(words("audit/export", "exportAudit", "The audit as a file"), auditExportQuery),
];

const SETTINGS: readonly Operation[] = [
  read(
    words("policies", "listPolicies", "Retry policies and objectives in force"),
    policiesQuery,
    "PoliciesAnswer",
    OF_ROW,
  ),
  read(words("me", "readProfile", "Who the caller is, and what they may do"), noQuery, "ProfileAnswer"),
  read(words("about", "readAbout", "Build, schema and settings without a secret"), noQuery, "AboutAnswer"),
  read(
    words("saved-views", "listSavedViews", "Filters of a list under a name; people only"),
    savedViewsQuery,
    "SavedViewsAnswer",
  ),
  read(words("people", "listPeople", "Who may do what"), noQuery, "PeopleAnswer", [], "access"),
  read(words("tokens", "listTokens", "Service tokens"), noQuery, "TokensAnswer", [], "service_tokens"),
];

export const READS: readonly Operation[] = [
  ...OVERVIEW,
  ...TENANTS,
  ...DELIVERIES,
  ...DEAD_LETTERS,
  ...REGIONS,
  ...SETTINGS,
];
