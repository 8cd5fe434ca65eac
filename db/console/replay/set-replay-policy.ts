/**
 * The limits and thresholds of replays: what is in force with its history, and a new version of it. The only place where a
 * threshold gets looser for everybody, so it is an administrator's, with a reason, and the version before stays for good.
 * Batches keep the thresholds that they were frozen with; spans of review, holds and ramps count from the answer on.
 */
import { readCommand } from "#domain/commands.ts";
import { SetReplayPolicy } from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import {
  DEFAULT_REPLAY_POLICY,
  loosened,
  type ReplayPolicy,
  type ReplayPolicyInput,
  readReplayPolicy,
  thresholdsOf,
} from "#domain/replay-plan.ts";
import { versionConflict } from "../commands/locked-row.ts";
import {
  type CommandAnswer,
  type CommandContext,
  type Facts,
  Refusal,
  runCommand,
} from "../commands/run-command.ts";
import { type RegionAnswer, readRegion } from "../read-region.ts";
import type { ReplayPolicyView } from "./replay-views.ts";

const MAX_HISTORY = 20;
const UNIQUE_VIOLATION = "23505";

interface PolicyRow {
  version: number;
  body: ReplayPolicyInput;
  created_by: string;
  created_at: Date;
  reason: string;
}

const HISTORY = `SELECT p.version, p.body, p.created_by, p.created_at, p.reason FROM sluice.replay_policy p ORDER BY p.version DESC LIMIT ${MAX_HISTORY}`;

/** A reason may speak of tenants that the reader does not see, so it is for those who see them all. */
export async function readReplayPolicyView(
  access: AccessScope,
  region: Region,
): Promise<RegionAnswer<ReplayPolicyView>> {
  const whole = tenantsIn(access, region) === null;
  return readRegion(region, async (sql) => {
    const rows = await sql<PolicyRow>(HISTORY);
    const [newest] = rows;
    return {
      version: newest?.version ?? 0,
      policy: newest === undefined ? DEFAULT_REPLAY_POLICY : readReplayPolicy(newest.body),
      defaults: DEFAULT_REPLAY_POLICY,
      changedBy: whole ? (newest?.created_by ?? null) : null,
      changedAt: newest?.created_at.toISOString() ?? null,
      reason: whole ? (newest?.reason ?? null) : null,
      history: whole ? rows.map(toVersion) : [],
    };
  });
}

function toVersion({ version, body, created_by, created_at, reason }: PolicyRow) {
  return { version, body, reason, changedBy: created_by, changedAt: created_at.toISOString() };
}

/**
 * Writes the next version. What is left out stays as it is in force.
 * @throws SluiceError `forbidden` for everybody but an administrator, `version_conflict`, `bad_policy`, and those of
 *   readCommand and runCommand
 */
export async function setReplayPolicy(
  context: CommandContext,
  input: SetReplayPolicy,
): Promise<CommandAnswer> {
  const command = readCommand(SetReplayPolicy, input);
  const { reason, ticket, version: seen } = command;
  return runCommand(
    context,
    { action: "replay.policy", targetKind: "region", targetId: context.region, reason, ticket },
    async (client) => {
      if (context.role !== "admin") throw needsAdmin();
      const { rows } = await client.query<PolicyRow>(HISTORY);
      const [newest] = rows;
      const current = newest?.version ?? 0;
      const subject = `replay policy of ${context.region}`;
      if (current !== seen) throw versionConflict(subject, seen, current, {});
      const changes = Object.fromEntries(
        Object.entries(command.policy).filter(([, value]) => value !== undefined),
      ) as ReplayPolicyInput;
      const before = newest === undefined ? DEFAULT_REPLAY_POLICY : readReplayPolicy(newest.body);
      const body = { ...newest?.body, ...changes };
      const after = readReplayPolicy(body);
      await client
        .query(
          `INSERT INTO sluice.replay_policy (version, region, body, created_by, reason)
           SELECT $1, rc.region, $2, $3, $4 FROM sluice.region_control rc`,
          [current + 1, JSON.stringify(body), context.actor, reason],
        )
        .catch((error: unknown) => {
          // Somebody else was faster by a moment.
          if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
          throw versionConflict(subject, seen, current + 1, {});
        });
      const looser = loosened(thresholdsOf(after), before);
      return {
        tenantId: null,
        version: current + 1,
        before: { policyVersion: current, ...named(before, changes) },
        after: {
          policyVersion: current + 1,
          ...named(after, changes),
          loosened: looser.length === 0 ? null : looser.join(", "),
        },
      };
    },
  );
}

/** Only what was named: the rest did not change. */
function named(policy: ReplayPolicy, changes: ReplayPolicyInput): Facts {
  const names = Object.keys(changes) as (keyof ReplayPolicy)[];
  return Object.fromEntries(names.map((name) => [name, policy[name]]));
}

function needsAdmin(): Refusal {
  const error = new SluiceError("forbidden", "the policy of replays needs the role admin", {
    action: "policies",
    roles: ["admin"],
  });
  return new Refusal("denied", error);
}
