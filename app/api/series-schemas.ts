/** The query of the time series, strict. */
import { z } from "zod";
import { SERIES_RANGE_NAMES } from "#domain/series.ts";
import { destination, oneOf, region, tenant } from "./schemas.ts";

export const seriesQuery = z.strictObject({
  region,
  range: oneOf(SERIES_RANGE_NAMES).default("15m"),
  tenant: tenant.optional(),
  destination: destination.optional(),
});
