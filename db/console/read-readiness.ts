/** Whether each region answers at all. Reads no rows of anybody. */
import { REGIONS } from "#domain/region.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

export interface Readiness {
  /** True when at least one region can be shown; a region that is down is a fact to show, not a reason to be down. */
  ready: boolean;
  regions: RegionAnswer<{ schema: "present" }>[];
}

/** Asks every region at once. */
export async function readReadiness(): Promise<Readiness> {
  const regions = await Promise.all(
    REGIONS.map((region) => readRegion(region, async () => ({ schema: "present" as const }))),
  );
  return { ready: regions.some((answer) => answer.status === "ok"), regions };
}
