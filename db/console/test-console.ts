/** Points the console's own pools at a pair of test databases. Only tests import this. */
import { vi } from "vitest";
import type { Region } from "#domain/region.ts";
import { urlSetting } from "../config.ts";
import { closeRegionPools } from "../regions.ts";

/** Takes effect for the next read: open pools are closed first. */
export async function pointConsoleAt(urls: Readonly<Record<Region, string>>): Promise<void> {
  await closeRegionPools();
  for (const region of ["us", "eu"] as const) vi.stubEnv(urlSetting(region), urls[region]);
}

/** Closes the pools, so that the databases can be dropped. */
export async function releaseConsole(): Promise<void> {
  await closeRegionPools();
  vi.unstubAllEnvs();
}
