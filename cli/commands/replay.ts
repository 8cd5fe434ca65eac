/**
 * `sluice replay`: reviewed batches by the API, as a person or a service with its own roles. Never by the database: whoever
 * has its URL would be a second person to themselves.
 */
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { SluiceError } from "#domain/errors.ts";
import { isRegion, parseRegion } from "#domain/region.ts";
import { type ApiSettings, readApiSettings } from "../api-config.ts";
import { UsageError } from "../command.ts";

export const help = `Usage: sluice replay list --region us [--state running]
       sluice replay show|items|report <rpl_...> --region us
       sluice replay preview --region us <selection>
       sluice replay draft --region us <selection> --name "..." --reason "..."
       sluice replay <verb> <rpl_...> --region us --reason "..." [--fields '{...}']

Verbs: inspect, annotate, plan, submit, request-changes, cancel, approve, reject, break-glass, start, continue, pause, resume,
stop, rate. The order in which replayed deliveries arrive can differ from the order of their events.

  selection              --group <dlg_...>, or --id <dlv_...> (repeat it), or any of --tenant <ten_...>,
                         --destination <dst_...>, --death-reason <word>
  --limit <n>            the oldest n; default 500
  --fields <json>        what the verb takes beside the reason, as docs/api.md lists it
  --ticket <text>        the ticket it belongs to
  --if-version <n>       refuse when the batch has another version; default: the version read a moment before

Prints JSON. Calls SLUICE_CONSOLE_URL with the service token in SLUICE_TOKEN.`;

const OPTIONS = {
  region: { type: "string" },
  state: { type: "string" },
  group: { type: "string" },
  id: { type: "string", multiple: true },
  tenant: { type: "string" },
  destination: { type: "string" },
  "death-reason": { type: "string" },
  limit: { type: "string" },
  name: { type: "string" },
  reason: { type: "string" },
  ticket: { type: "string" },
  fields: { type: "string" },
  "if-version": { type: "string" },
} as const;

const READS = ["show", "items", "report"];
const VERBS = [
  ...["inspect", "annotate", "plan", "submit", "request-changes", "cancel", "approve", "reject"],
  ...["break-glass", "start", "continue", "pause", "resume", "stop", "rate"],
];

type Values = ReturnType<typeof read>["values"];

function read(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: OPTIONS });
}

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = read(args);
  const [what = "", id = "", ...more] = positionals;
  if (more.length > 0) throw new UsageError("too many words");
  if (values.region === undefined || !isRegion(values.region.toLowerCase()))
    throw new UsageError("--region must be us or eu");
  const query = new URLSearchParams({ region: parseRegion(values.region) });
  try {
    console.log(JSON.stringify(await ask(readApiSettings(), what, id, values, query), null, 2));
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.error(`sluice: ${error.message}`);
    return 1;
  }
}

async function ask(api: ApiSettings, what: string, id: string, values: Values, query: URLSearchParams) {
  if (what === "list") {
    if (values.state !== undefined) query.set("state", values.state);
    return call(api, "GET", `replays?${query}`);
  }
  if (what === "preview" || what === "draft") {
    const limit = values.limit === undefined ? {} : { limit: wholeNumber("--limit", values.limit) };
    const body = { selection: selectionOf(values), ...limit };
    if (what === "preview") return call(api, "POST", `replays/preview?${query}`, { body });
    return call(api, "POST", `replays?${query}`, { body: { ...body, name: values.name, ...why(values) } });
  }
  if (!READS.includes(what) && !VERBS.includes(what))
    throw new UsageError(`unknown word "${what.slice(0, 40)}"`);
  if (!/^rpl_[0-9a-f]{32}$/.test(id)) throw new UsageError("expected rpl_ and 32 hex digits");
  if (what === "show") return call(api, "GET", `replays/${id}?${query}`);
  if (READS.includes(what)) return call(api, "GET", `replays/${id}/${what}?${query}`);
  const version =
    values["if-version"] === undefined
      ? await versionOf(api, id, query)
      : wholeNumber("--if-version", values["if-version"]);
  const body = { ...fieldsOf(values), ...why(values) };
  return call(api, "POST", `replays/${id}/${what}?${query}`, { body, version });
}

function selectionOf({ group, id, tenant, destination, "death-reason": reason }: Values): object {
  if (group !== undefined) return { groupId: group };
  if (id !== undefined) return { ids: id };
  const filter = { tenantId: tenant, destinationId: destination, reason };
  if (Object.values(filter).every((value) => value === undefined)) {
    throw new UsageError("a selection is missing: --group, --id, --tenant, --destination or --death-reason");
  }
  return { filter };
}

function why({ reason, ticket }: Values): object {
  if (reason === undefined) throw new UsageError("--reason is missing: say why, in 10 to 500 characters");
  return { reason, ...(ticket === undefined ? {} : { ticket }) };
}

function fieldsOf({ fields }: Values): object {
  if (fields === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(fields);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // Said below.
  }
  throw new UsageError("--fields must be a JSON object");
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`${name} must be a whole number`);
  return Number(text);
}

async function versionOf(api: ApiSettings, id: string, query: URLSearchParams): Promise<number> {
  const answer = (await call(api, "GET", `replays/${id}?${query}`)) as {
    data?: { version?: number };
    detail?: string;
  };
  const version = answer.data?.version;
  if (version === undefined)
    throw new SluiceError("region_unavailable", answer.detail ?? "the region does not answer");
  return version;
}

/** The exit code is 1: the command line was right. */
class Refused extends Error {
  override readonly name = "Refused";
}

interface Sent {
  readonly body: object;
  readonly version?: number;
}

/** @throws Refused with the problem's own words */
async function call(api: ApiSettings, method: "GET" | "POST", path: string, sent?: Sent): Promise<unknown> {
  const response = await fetch(`${api.url}/api/v1/${path}`, {
    method,
    signal: AbortSignal.timeout(api.timeoutMs),
    redirect: "error",
    headers: {
      authorization: `Bearer ${api.token}`,
      accept: "application/json",
      ...(sent === undefined ? {} : { "content-type": "application/json", "idempotency-key": randomUUID() }),
      ...(sent?.version === undefined ? {} : { "if-match": `"${sent.version}"` }),
    },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent.body) }),
  });
  const answer = (await response.json().catch(() => ({}))) as { code?: string; detail?: string };
  if (response.ok) return answer;
  throw new Refused(
    `the API says ${response.status} ${answer.code ?? ""}: ${answer.detail ?? "nothing more"}`,
  );
}
