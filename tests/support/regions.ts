/** A pair of region databases for tests that need both. */
import { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from "./database.ts";

export interface TestRegions {
  us: TestDatabase;
  eu: TestDatabase;
  /** Drops both. */
  drop(): Promise<void>;
}

/** Clones one database per region. */
export async function createTestRegions(
  options: Omit<TestDatabaseOptions, "region"> = {},
): Promise<TestRegions> {
  const [us, eu] = await Promise.all([
    createTestDatabase({ ...options, region: "us" }),
    createTestDatabase({ ...options, region: "eu" }),
  ]);
  return {
    us,
    eu,
    drop: async () => {
      await Promise.all([us.drop(), eu.drop()]);
    },
  };
}
