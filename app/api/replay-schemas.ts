/** The query parameters of replay batches, strict: an unknown name or value is refused, never ignored. */
import { z } from "zod";
import { REPLAY_ITEM_STATES, REPLAY_STATES } from "#domain/replay.ts";
import { cursor, limit, oneOf, region } from "./schemas.ts";

export const replaysQuery = z.strictObject({
  region,
  state: oneOf(REPLAY_STATES).optional(),
  cursor: cursor.optional(),
  limit,
});

export const replayItemsQuery = z.strictObject({
  region,
  state: oneOf(REPLAY_ITEM_STATES).optional(),
  cursor: cursor.optional(),
  limit,
});

/** One batch of a region. */
export const replayQuery = z.strictObject({ region });
