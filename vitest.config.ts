/**
 * The test groups. `npm test` runs them all; `npx vitest run domain/x.test.ts` runs one file and starts a database
 * only when that file's group needs one.
 */
import path from "node:path";
import { defineConfig } from "vitest/config";
import { MixedSequencer } from "./scripts/lib/mixed-sequencer.ts";
import { hasTestServer } from "./scripts/lib/test-server.ts";

const DATABASE_TESTS = [
  "db/**/*.test.ts",
  "outbox/**/*.test.ts",
  "prisma/**/*.test.ts",
  "demo/**/*.test.ts",
  "sim/**/*.db.test.ts",
];
const PROCESS_TESTS = [
  "worker/**/*.test.ts",
  "cli/**/*.test.ts",
  "bench/**/*.test.ts",
  "chaos/**/*.test.ts",
  "scripts/**/*.test.ts",
];
const NEVER = ["**/node_modules/**", "**/.next/**", "**/.next-*/**", ".sluice/**", "e2e/**"];
const START_TIMEOUT_MS = 180_000;
/** When a test that hangs is given up. No promise depends on it: a slow machine must not fail a test that would pass. */
const TEST_TIMEOUT_MS = 180_000;
/** Most tests of processes start some of ours, and each of those reads hundreds of files of TypeScript. */
const COMPILE_CACHE = path.join(import.meta.dirname, "node_modules", ".cache", "sluice-tests");

/**
 * One group. One with a database gets its set-up file; one without shares its processes among its files: what they test is pure, and
 * a process of its own for each of them takes longer than the tests.
 */
function group(name: string, include: string[], exclude: string[], globalSetup?: string) {
  return {
    extends: true as const,
    // Loaded once for all files, by whichever comes first: no file may need it to be mocked.
    resolve: {
      alias: { "server-only": path.join(import.meta.dirname, "node_modules/server-only/empty.js") },
    },
    test: {
      isolate: globalSetup !== undefined,
      name,
      include,
      exclude: [...NEVER, ...exclude],
      // A test that starts a process of ours must never hand it the databases, or the token, of whoever runs the tests.
      env: { DATABASE_URL_US: "", DATABASE_URL_EU: "", SLUICE_TOKEN: "", NODE_COMPILE_CACHE: COMPILE_CACHE },
      ...(globalSetup ? { globalSetup: [globalSetup] } : {}),
    },
  };
}

const SERVERS = "./tests/support/test-servers.ts";
const SERVERS_15 = "./tests/support/test-servers-15.ts";

export default defineConfig({
  test: {
    environment: "node",
    pool: "forks",
    // The machine's cores are mostly idle while tests wait for Postgres and sockets.
    maxWorkers: 4,
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: START_TIMEOUT_MS,
    teardownTimeout: 30_000,
    passWithNoTests: false,
    sequence: { sequencer: MixedSequencer },
    projects: [
      group("unit", ["**/*.test.ts", "**/*.test.tsx"], [...DATABASE_TESTS, ...PROCESS_TESTS]),
      group("db", DATABASE_TESTS, [], SERVERS),
      // What an older server could read otherwise: our SQL. The demo's and the simulation's tests look at other things.
      ...(hasTestServer(15) ? [group("db15", DATABASE_TESTS, ["demo/**", "sim/**"], SERVERS_15)] : []),
      group("worker", PROCESS_TESTS, [], SERVERS),
    ],
  },
});
