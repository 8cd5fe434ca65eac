/** `sluice limits tenant|destination`: shows limits, or changes those that are named. Empty inherits; 0 is refused. */
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import { readLimitText } from "#domain/commands-limits.ts";
import { UsageError } from "../command.ts";
import { type Controls, withControls } from "../controls/caller.ts";
import {
  type ControlArgs,
  changeOf,
  printAnswer,
  readControlArgs,
  SHARED_HELP,
  show,
} from "../controls/options.ts";
import { ofRegion, REGION_OPTIONS } from "../controls/region-defaults.ts";

export const help = `Usage: sluice limits tenant <slug|ten_...>               --region us [--concurrency 20] [--weight 2] --reason "..."
       sluice limits destination <dst_...|tenant/name>  --region us [--concurrency 5] [--rate 10] [--burst 20] --reason "..."
       sluice limits --region-defaults                  --region us [--tenant-concurrency 100] [--destination-concurrency 10] --reason "..."

Without a limit it prints those that stand. A change counts within a second in every worker; lowering takes nothing back
that is in flight. To send nothing, use pause: 0 is refused. Concurrency and rate are raised step by step: at most to twice
the value in force, two minutes apart; back to a value of the last ten minutes at once.

  --concurrency <n|inherit>  requests at a time
  --rate <n|none>            requests per second of a destination
  --burst <n>                requests that may go at once before the rate counts
  --weight <n>               share of a tenant while tenants compete, 1 to 100
  --pin <n>, --unpin         fix the adaptive limit of a destination, or let it move again
  --acknowledge-429          raise although more than 10 % of the answers are 429
  --any-step                 raise further or sooner than the step rule allows; the audit says so. Without a token only
  --tenant-concurrency, --destination-concurrency <n>  what rows of the region inherit
  --max-tenant-concurrency, --max-destination-concurrency, --max-rate <n>  how far operators may raise limits in the console
${SHARED_HELP}`;

const OPTIONS = {
  concurrency: { type: "string" },
  rate: { type: "string" },
  burst: { type: "string" },
  weight: { type: "string" },
  pin: { type: "string" },
  unpin: { type: "boolean", default: false },
  "acknowledge-429": { type: "boolean", default: false },
  "any-step": { type: "boolean", default: false },
} as const;

export async function run(args: string[]): Promise<number> {
  if (args.includes("--region-defaults")) {
    const asked = readControlArgs(args, { words: [], options: { ...OPTIONS, ...REGION_OPTIONS } });
    const work = (controls: Controls) => ofRegion(controls, asked);
    return withControls(asked.region, work, { anyStep: asked.flag("any-step") });
  }
  const kind = args[0];
  if (kind !== "tenant" && kind !== "destination")
    throw new UsageError("say whose limits: tenant or destination, or --region-defaults");
  const asked = readControlArgs(args, { words: [kind, "<which>"], options: OPTIONS });
  const work = (controls: Controls) =>
    kind === "tenant" ? ofTenant(controls, asked) : ofDestination(controls, asked);
  return withControls(asked.region, work, { anyStep: asked.flag("any-step") });
}

/** For the commands that raise limits. */
function acknowledged(asked: ControlArgs): { acknowledge429?: true } {
  return asked.flag("acknowledge-429") ? { acknowledge429: true } : {};
}

async function ofTenant(controls: Controls, asked: ControlArgs): Promise<number> {
  refuse(asked, ["rate", "burst", "pin"], "a tenant has --concurrency and --weight");
  if (asked.flag("unpin")) throw new UsageError("only a destination has an adaptive limit");
  const tenant = await controls.tenant(asked.words[1] ?? "");
  const concurrency = asked.text("concurrency");
  const weight = asked.text("weight");
  if (concurrency === undefined && weight === undefined) return show(asked, tenant);
  const target = { tenantId: tenant.id };
  let { version } = tenant;
  let answer: CommandAnswer | null = null;
  if (concurrency !== undefined) {
    const concurrencyLimit = readLimitText(concurrency);
    answer = await controls.change("setTenantLimits", {
      ...target,
      ...changeOf(asked, version),
      ...acknowledged(asked),
      concurrencyLimit,
    });
    version = answer.version ?? version;
    const code = printAnswer(asked, `tenant ${tenant.slug}: concurrency ${shown(concurrencyLimit)}`, answer);
    if (code !== 0) return code;
  }
  if (weight === undefined) return 0;
  // The second change of one call is based on what the first one wrote.
  const change = { ...changeOf(asked, version), ...(answer === null ? {} : { version }) };
  const weighed = await controls.change("setWeight", {
    ...target,
    ...change,
    weight: readLimitText(weight) ?? Number.NaN,
  });
  return printAnswer(asked, `tenant ${tenant.slug}: weight ${weighed.after.weight}`, weighed);
}

async function ofDestination(controls: Controls, asked: ControlArgs): Promise<number> {
  refuse(asked, ["weight"], "only a tenant has a --weight");
  const destination = await controls.destination(asked.words[1] ?? "");
  const name = `destination ${destination.tenantSlug}/${destination.name}`;
  const limits = readLimits(asked);
  const pin = asked.text("pin");
  const kinds = [Object.keys(limits).length > 0, pin !== undefined, asked.flag("unpin")].filter(
    Boolean,
  ).length;
  if (kinds === 0) return show(asked, destination);
  if (kinds > 1) throw new UsageError("limits, --pin and --unpin are changes of their own: one at a time");
  const base = { destinationId: destination.id, ...changeOf(asked, destination.version) };
  if (pin !== undefined) {
    const limit = readLimitText(pin) ?? Number.NaN;
    const answer = await controls.change("pinAdaptiveLimit", { ...base, ...acknowledged(asked), limit });
    return printAnswer(asked, `${name}: adaptive limit pinned at ${limit}`, answer);
  }
  if (asked.flag("unpin")) {
    const answer = await controls.change("unpinAdaptiveLimit", base);
    return printAnswer(
      asked,
      `${name}: adaptive limit moves again, from ${shown(answer.after.adaptiveLimit)}`,
      answer,
    );
  }
  const answer = await controls.change("setDestinationLimits", {
    ...base,
    ...acknowledged(asked),
    ...limits,
  });
  const { concurrencyLimit, ratePerSecond, rateBurst } = answer.after;
  const rate = ratePerSecond === null ? "no rate" : `${ratePerSecond} per second, burst ${rateBurst}`;
  return printAnswer(asked, `${name}: concurrency ${shown(concurrencyLimit)}, ${rate}`, answer);
}

function readLimits(asked: ControlArgs): {
  concurrencyLimit?: number | null;
  ratePerSecond?: number | null;
  rateBurst?: number;
} {
  const concurrency = asked.text("concurrency");
  const rate = asked.text("rate");
  const burst = asked.text("burst");
  return {
    ...(concurrency === undefined ? {} : { concurrencyLimit: readLimitText(concurrency) }),
    ...(rate === undefined ? {} : { ratePerSecond: readLimitText(rate) }),
    ...(burst === undefined ? {} : { rateBurst: readLimitText(burst) ?? Number.NaN }),
  };
}

function refuse(asked: ControlArgs, options: readonly string[], message: string): void {
  if (options.some((name) => asked.text(name) !== undefined)) throw new UsageError(message);
}

function shown(limit: unknown): string {
  return limit === null ? "inherited" : String(limit);
}
