/** `sluice limits --region-defaults`: shows or changes what rows of a region inherit, and how far operators may raise. */
import { readLimitText } from "#domain/commands-limits.ts";
import { UsageError } from "../command.ts";
import type { Controls } from "./caller.ts";
import { type ControlArgs, changeOf, printAnswer, show } from "./options.ts";

export const REGION_OPTIONS = {
  "region-defaults": { type: "boolean", default: false },
  "tenant-concurrency": { type: "string" },
  "destination-concurrency": { type: "string" },
  "max-tenant-concurrency": { type: "string" },
  "max-destination-concurrency": { type: "string" },
  "max-rate": { type: "string" },
} as const;

/** Option and field of each. */
const FIELDS = [
  ["tenant-concurrency", "tenantConcurrency"],
  ["destination-concurrency", "destinationConcurrency"],
  ["max-tenant-concurrency", "maxTenantConcurrency"],
  ["max-destination-concurrency", "maxDestinationConcurrency"],
  ["max-rate", "maxRatePerSecond"],
] as const;

const OF_ROWS = ["concurrency", "rate", "burst", "weight", "pin"] as const;

export async function ofRegion(controls: Controls, asked: ControlArgs): Promise<number> {
  if (OF_ROWS.some((name) => asked.text(name) !== undefined) || asked.flag("unpin")) {
    throw new UsageError("a region has defaults: --tenant-concurrency, --destination-concurrency, --max-...");
  }
  const { draining: _draining, ...standing } = await controls.claims();
  const limits = Object.fromEntries(
    FIELDS.flatMap(([option, field]) => {
      const text = asked.text(option);
      return text === undefined ? [] : [[field, readLimitText(text) ?? Number.NaN] as const];
    }),
  );
  if (Object.keys(limits).length === 0) return show(asked, standing);
  const answer = await controls.change("setRegionDefaults", {
    ...changeOf(asked, standing.version),
    ...(asked.flag("acknowledge-429") ? { acknowledge429: true } : {}),
    ...limits,
  });
  const { tenantConcurrency, destinationConcurrency } = answer.after;
  const words = `rows of ${asked.region} inherit concurrency ${tenantConcurrency} (tenants) and ${destinationConcurrency} (destinations)`;
  return printAnswer(asked, words, answer);
}
