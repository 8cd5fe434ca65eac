/** Vitest's global set-up for the group that repeats the database tests on Postgres 15. */
import type { TestProject } from "vitest/node";
import { provideServers } from "./test-servers.ts";

/** Starts the installed Postgres 15; the group exists only where there is one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return provideServers(project, 15);
}
