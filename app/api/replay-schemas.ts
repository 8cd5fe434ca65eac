/** The query parameters of replay batches, strict: an unknown name or value is refused, never ignored. */
import { z } from "zod";
import { REPLAY_ITEM_STATES, REPLAY_STATES } from "#domain/replay.ts";
import { REPLAY_TABS } from "#domain/replay-tabs.ts";
import { format } from "./export-schemas.ts";
import { cursor, destination, limit, oneOf, region, regions } from "./schemas.ts";

export const replaysQuery = z.strictObject({
  region,
  tab: oneOf(REPLAY_TABS).optional(),
  state: oneOf(REPLAY_STATES).optional(),
  cursor: cursor.optional(),
  limit,
});

/** Without a region: all in scope. */
export const replaySummaryQuery = z.strictObject({ region: regions.optional() });

const items = {
  region,
  state: oneOf(REPLAY_ITEM_STATES).optional(),
  destination: destination.optional(),
};

export const replayItemsQuery = z.strictObject({ ...items, cursor: cursor.optional(), limit });
export const replayItemsExportQuery = z.strictObject({ ...items, format });

export const REPORT_FORMATS = ["csv", "json"] as const;
export const replayReportExportQuery = z.strictObject({
  region,
  format: oneOf(REPORT_FORMATS).default("csv"),
});

/** One batch of a region. */
export const replayQuery = z.strictObject({ region });
