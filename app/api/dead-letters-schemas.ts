/** The query parameters of dead letters, regions and audit, strict: an unknown name or value is refused, never ignored. */
import { z } from "zod";
import { CODE_SHAPE } from "#db/console/dead-letter-terms.ts";
import { AUDIT_RANGES, AUDIT_RESULTS, type AuditRange } from "#db/console/list-audit.ts";
import { DEATH_RANGES, type DeathRange } from "#db/console/list-dead-letters.ts";
import { GROUP_STATES } from "#domain/dead-letter-group.ts";
import { DEAD_CLASSES, DEAD_REASONS } from "#domain/delivery.ts";
import { moment } from "#domain/moment.ts";
import { format } from "./export-schemas.ts";
import { cursor, destination, limit, oneOf, region, regions, tenant } from "./schemas.ts";

const cause = {
  region,
  tenant: tenant.optional(),
  destination: destination.optional(),
  reason: oneOf(DEAD_REASONS).optional(),
  cause: oneOf(DEAD_CLASSES).optional(),
  code: z
    .string()
    .regex(CODE_SHAPE, { error: "must be a status such as 422, a class such as 5xx, timeout or network" })
    .optional(),
};

/** What was typed by a person: visible, no control characters. */
const text = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^\P{Cc}+$/u, { error: "has control characters" });

export const deadLettersQuery = z.strictObject({
  ...cause,
  group: z
    .string()
    .regex(/^dlg_[0-9a-f]{32}$/, { error: "must be a dlg_ id" })
    .optional(),
  marked: oneOf(["yes", "no"]).optional(),
  range: oneOf(Object.keys(DEATH_RANGES) as [DeathRange, ...DeathRange[]]).optional(),
  cursor: cursor.optional(),
  limit,
});
export const deadLettersExportQuery = deadLettersQuery.omit({ cursor: true, limit: true }).extend({ format });

export const deadLetterGroupsQuery = z.strictObject({
  ...cause,
  status: oneOf(GROUP_STATES).optional(),
  assignee: text(200).optional(),
  cursor: cursor.optional(),
  limit,
});
export const deadLetterGroupsExportQuery = deadLetterGroupsQuery
  .omit({ cursor: true, limit: true })
  .extend({ format });

/** One row of a region. */
export const oneOfRegionQuery = z.strictObject({ region });

export const regionsQuery = z.strictObject({ region: regions.optional() });

export const auditQuery = z.strictObject({
  region,
  actor: text(200).optional(),
  action: z
    .string()
    .regex(/^[a-z_]{1,60}(?:\.(?:[a-z_]{1,60}|\*))?$/, {
      error: "must be an action such as tenant.pause, or tenant.*",
    })
    .optional(),
  target: text(200).optional(),
  tenant: tenant.optional(),
  result: oneOf(AUDIT_RESULTS).optional(),
  range: oneOf(Object.keys(AUDIT_RANGES) as [AuditRange, ...AuditRange[]]).optional(),
  from: moment().optional(),
  to: moment().optional(),
  cursor: cursor.optional(),
  limit,
});
export const auditExportQuery = auditQuery.omit({ cursor: true, limit: true }).extend({ format });
