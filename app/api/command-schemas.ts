/** The query of commands and of what they show before: strict, as everywhere. Bodies are the commands' own (domain). */
import { z } from "zod";
import { region } from "./schemas.ts";

export const commandQuery = z.strictObject({ region });

/** The path names the region already; a second one must be the same. */
export const regionCommandQuery = z.strictObject({ region: region.optional() });
