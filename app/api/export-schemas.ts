/** The query parameter that every export shares. */
import { oneOf } from "./schemas.ts";

export const EXPORT_FORMATS = ["csv", "ndjson"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Put it into the route's own strict schema. */
export const format = oneOf(EXPORT_FORMATS).default("csv");
