/**
 * `sluice rehearse replay`: the replay drill against a running console, by its API as two people, with its result in a file. It
 * writes tenants, destinations and deliveries of its own, so it refuses where the environment does not look like a rehearsal.
 */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { createReceiverClient } from "#demo/receiver/client.ts";
import { SluiceError } from "#domain/errors.ts";
import { isRegion, parseRegion, type Region } from "#domain/region.ts";
import { UsageError } from "../command.ts";
import { readDuration } from "../controls/duration.ts";
import { ApiRefusal, openPerson, type Person } from "../rehearse/person.ts";
import { type RehearseSettings, readRehearseSettings } from "../rehearse/rehearse-config.ts";
import { type DrillOutcome, runReplayDrill } from "../rehearse/replay-drill.ts";
import { type RehearsalResult, writeResult } from "../rehearse/result.ts";
import { createSteps, oneLine } from "../rehearse/steps.ts";

export const help = `Usage: sluice rehearse replay --region us [--json] [--timeout 20m] [--keep] [--any-environment]

The drill of a reviewed replay (docs/runbook.md): writes 120 dead letters of three tenants with one destination each at the
demo's receiver, repairs two of them, drafts, inspects, submits, is refused as the author, approves as the second person,
starts, continues after the canary, waits for the end, and checks at the receiver that nothing but the frozen ids was sent,
with the same ids, keys and bodies, each effect once, and that the lane of the failing destination stopped. Three minutes
with the built-in policy, of which two are the canary's hold. The result is a file below rehearsals/ in the data folder.

  --timeout <length>     how long all of it may take (default 20m)
  --keep                 leave destinations and dead letters as they are; else destinations are deleted and the rest is
                         marked as "will not replay"
  --any-environment      run although the environment's name is none of a demo, a test or a rehearsal
  --json                 print the result; the steps go to standard error

People: the demo's accounts admin and operator, or two service tokens: SLUICE_TOKEN (author; role admin, scopes read,
configure, enqueue, test_event, will_not_replay, replay_draft, replay_approve, replay_stop) and SLUICE_REVIEWER_TOKEN (role
operator, scopes read, replay_approve, replay_start). Calls SLUICE_CONSOLE_URL and the demo's receiver, SLUICE_RECEIVER_URL.
Exit code 0 when every check passed.`;

const OPTIONS = {
  region: { type: "string" },
  json: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
  timeout: { type: "string", default: "20m" },
  "any-environment": { type: "boolean", default: false },
} as const;

/** Names under which a drill may write. Anything else could be somebody's production. */
const REHEARSAL_NAMES = /^(demo|dev|development|local|test|qa|ci|e2e|staging|stage|rehearsal|sandbox)\b/i;
const AUTHOR_NEEDS = [
  "configure",
  "enqueue",
  "test_event",
  "will_not_replay",
  "replay_draft",
  // So that it is the second person who is missing, and not the role.
  "replay_approve",
  "replay_stop",
];
const REVIEWER_NEEDS = ["replay_approve", "replay_start"];

interface About {
  readonly version: string;
  readonly environment: string;
  readonly node: string;
  readonly build: string;
}

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS });
  if (positionals.length !== 1 || positionals[0] !== "replay")
    throw new UsageError("say what to rehearse: replay");
  if (values.region === undefined || !isRegion(values.region.toLowerCase()))
    throw new UsageError("--region must be us or eu");
  const region = parseRegion(values.region);
  const timeoutMs = readDuration("--timeout", values.timeout);
  const settings = readRehearseSettings();
  const people = await meet(settings).catch((error: unknown) => {
    // The network, or a console that does not know them.
    if (!(error instanceof ApiRefusal) && !(error instanceof TypeError)) throw error;
    console.error(`sluice: ${settings.consoleUrl}: ${oneLine(error)}`);
    return null;
  });
  if (people === null) return 1;
  const { author, reviewer, about } = people;
  requireRehearsal(about, values["any-environment"]);
  requirePeople(author, reviewer);
  const say = values.json ? (line: string) => console.error(line) : (line: string) => console.log(line);
  const result = await rehearse(
    settings,
    { region, author, reviewer, about, timeoutMs, keep: values.keep },
    say,
  );
  const file = writeResult(settings.dataDir, result);
  if (values.json) console.log(JSON.stringify(result, null, 2));
  for (const { name, passed, detail } of result.checks)
    say(`${passed ? "pass" : "FAIL"}  ${name}: ${detail}`);
  const end = result.failure === null ? "" : `: ${result.failure}`;
  say(`${result.passed ? "passed" : `failed${end}`}; the result is in ${file}`);
  return result.passed ? 0 : 1;
}

async function meet({ consoleUrl, author: one, reviewer: two }: RehearseSettings) {
  const author = await openPerson(consoleUrl, one);
  const reviewer = await openPerson(consoleUrl, two);
  return { author, reviewer, about: await author.get<About>("about") };
}

interface Cast {
  readonly region: Region;
  readonly author: Person;
  readonly reviewer: Person;
  readonly about: About;
  readonly timeoutMs: number;
  readonly keep: boolean;
}

async function rehearse(
  { consoleUrl, receiverUrl }: RehearseSettings,
  { region, author, reviewer, about, timeoutMs, keep }: Cast,
  say: (line: string) => void,
): Promise<RehearsalResult> {
  const startedAt = new Date();
  const receiver = createReceiverClient(receiverUrl);
  const steps = createSteps(say);
  let outcome: DrillOutcome | null = null;
  let failure: string | null = null;
  try {
    await requireReceiver(receiver.health(), receiverUrl);
    const run = `${startedAt.toISOString().slice(0, 16).replaceAll(/\D/g, "")}-${randomBytes(3).toString("hex")}`;
    outcome = await runReplayDrill({ region, run, author, reviewer, receiver, timeoutMs, keep }, steps);
  } catch (error) {
    failure = oneLine(error);
  } finally {
    await receiver.close();
  }
  const endedAt = new Date();
  const checks = outcome?.checks ?? [];
  return {
    rehearsal: "replay",
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    tookMs: endedAt.getTime() - startedAt.getTime(),
    passed: failure === null && checks.length > 0 && checks.every(({ passed }) => passed),
    failure,
    console: consoleUrl,
    environment: about.environment,
    build: { version: about.version, node: about.node, kind: about.build },
    region,
    people: { author: author.name, reviewer: reviewer.name },
    batchId: outcome?.batchId ?? null,
    sha256: outcome?.sha256 ?? null,
    counts: outcome?.counts ?? null,
    checks,
    steps: steps.done,
  };
}

function requireRehearsal({ environment }: About, anyway: boolean): void {
  if (anyway || (REHEARSAL_NAMES.test(environment) && !/prod/i.test(environment))) return;
  throw new SluiceError(
    "bad_config",
    `the console's environment is ${environment}: a drill writes tenants and deliveries; --any-environment does it all the same`,
  );
}

function requirePeople(author: Person, reviewer: Person): void {
  if (author.name === reviewer.name)
    throw new SluiceError("bad_config", `author and second person are both ${author.name}`);
  for (const [person, needs] of [
    [author, AUTHOR_NEEDS],
    [reviewer, REVIEWER_NEEDS],
  ] as const) {
    const missing = needs.filter((action) => !person.actions.includes(action));
    if (missing.length > 0)
      throw new SluiceError("bad_config", `${person.name} may not ${missing.join(", ")}`);
  }
}

/** Before anything is written. */
async function requireReceiver(health: Promise<unknown>, receiverUrl: string): Promise<void> {
  await health.catch((error: unknown) => {
    throw new Error(`the demo's receiver does not answer at ${receiverUrl} (${oneLine(error)})`);
  });
}
