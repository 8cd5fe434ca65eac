/**
 * `sluice worker --region us`: one worker process of one region. With `--demo` it also runs the demo's tasks.
 * It must never start without a valid region.
 */
import { parseArgs } from "node:util";
import { urlSetting } from "#db/config.ts";
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { SluiceError } from "#domain/errors.ts";
import { parseRegion, type Region } from "#domain/region.ts";
import { readWorkerSettings, type WorkerSettings } from "#worker/config.ts";
import { runWorkerProcess } from "#worker/main.ts";
import { WORKER_NODE_FLAGS } from "#worker/node-flags.ts";
import type { WorkerExtras } from "#worker/start-worker.ts";
import type { ExtraTask } from "#worker/supervisor.ts";
import { type Command, UsageError } from "../command.ts";

const MAX_PORT = 65_535;
const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
]);
const DEMO_POOL_MAX = 2;

const help = `Usage: sluice worker --region <us|eu> [--health-port <port>] [--demo]

Claims due deliveries of one region and sends them, until it is told to stop (Ctrl-C or SIGTERM drains, a second one
exits at once). Needs DATABASE_URL_US or DATABASE_URL_EU and SLUICE_SECRET_KEYS.

  --region <us|eu>       the region of the database; another region's database is refused
  --health-port <port>   serve /healthz and /readyz on 127.0.0.1 (0 takes a free port)
  --demo                 also run the demo's card-hold sweep and its support desk

Start it with NODE_OPTIONS="${WORKER_NODE_FLAGS.join(" ")}" to bound its memory (docs/configuration.md).`;

async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      region: { type: "string" },
      "health-port": { type: "string" },
      demo: { type: "boolean", default: false },
    },
  });
  if (values.region === undefined) throw new UsageError("--region is missing");
  const region = parseRegion(values.region);
  const settings = readWorkerSettings(region);
  const port = values["health-port"];
  const withPort: WorkerSettings =
    port === undefined ? settings : { ...settings, healthPort: parsePort(port) };
  if (!values.demo) {
    await start(withPort);
    return 0;
  }
  const demo = await demoTasks(region, withPort.connectionString);
  try {
    await start(withPort, { tasks: demo.tasks });
  } finally {
    await demo.close();
  }
  return 0;
}

/** A database that does not answer is one clear line with its setting, not a driver's word. */
async function start(settings: WorkerSettings, extras: WorkerExtras = {}): Promise<void> {
  try {
    await runWorkerProcess(settings, extras);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || !UNREACHABLE.has(code)) throw error;
    const setting = urlSetting(settings.region);
    throw new SluiceError(
      "database_unreachable",
      `the database of region ${settings.region} does not answer (${code}): check ${setting}`,
    );
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > MAX_PORT)
    throw new UsageError(`--health-port ${text.slice(0, 20)} is no port`);
  return port;
}

async function demoTasks(
  region: Region,
  connectionString: string,
): Promise<{ tasks: ExtraTask[]; close(): Promise<void> }> {
  const { holdSweepTask } = await import("#demo/holds/task.ts");
  const { supportTask } = await import("#demo/support/task.ts");
  const { createHinter, outboxStatementName } = await import("#outbox/index.ts");
  const pool = createPool({ connectionString, max: DEMO_POOL_MAX, applicationName: `sluice-demo-${region}` });
  const prisma = createPrisma(pool, { statementName: outboxStatementName });
  const hinter = createHinter({ connectionString });
  return {
    tasks: [holdSweepTask(region, prisma, { hinter }), supportTask(region, prisma, { hinter })],
    async close() {
      await hinter.close();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

export default { help, run } satisfies Command;
export { help, run };
