/**
 * `sluice replay`: reviewed batches by the API, as a person or a service with its own roles. Never by the database: whoever
 * has its URL would be a second person to themselves.
 */
import { parseArgs } from "node:util";
import { SluiceError } from "#domain/errors.ts";
import { isRegion, parseRegion } from "#domain/region.ts";
import { REPLAY_VERBS } from "#domain/replay-actions.ts";
import { callApi } from "../api-client.ts";
import { type ApiSettings, readApiSettings } from "../api-config.ts";
import { Refused, UsageError } from "../command.ts";

export const help = `Usage: sluice replay list --region us [--tab needs_review|running|drafts|finished] [--state running]
       sluice replay summary [--region us]
       sluice replay show|items|report|series <rpl_...> --region us
       sluice replay items|report <rpl_...> --region us --format csv|ndjson|json
       sluice replay preview --region us <selection>
       sluice replay draft --region us <selection> --name "..." --reason "..." [--root-cause "..."]
       sluice replay <verb> <rpl_...> --region us --reason "..." [--fields '{...}']
       sluice replay policy --region us [--fields '{"dueLagMs":30000}' --reason "..."]

Verbs: inspect, annotate, plan, remove, submit, request-changes, cancel, approve, reject, break-glass, start, continue, pause,
resume, stop, rate. The order in which replayed deliveries arrive can differ from the order of their events.

  selection              --group <dlg_...>, or --id <dlv_...> (repeat it), or any of --tenant <ten_...>,
                         --destination <dst_...>, --death-reason <word>, or --follow <rpl_...>: what an ended batch
                         sent and what failed again, which needs another --root-cause
  --limit <n>            the oldest n; default 500
  --format <word>        prints the file instead: items as csv or ndjson, a report as csv or json
  --fields <json>        what the verb takes beside the reason, as docs/api.md lists it
  --ticket <text>        the ticket it belongs to
  --if-version <n>       refuse when the batch, or the policy, has another version; default: the one read a moment before

Prints JSON. Calls SLUICE_CONSOLE_URL with the service token in SLUICE_TOKEN.`;

const OPTIONS = {
  region: { type: "string" },
  state: { type: "string" },
  tab: { type: "string" },
  follow: { type: "string" },
  "root-cause": { type: "string" },
  format: { type: "string" },
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

const READS = ["show", "items", "report", "series"];
/** By word, the formats in which its file can be had. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  items: ["csv", "ndjson"],
  report: ["csv", "json"],
};

type Values = ReturnType<typeof read>["values"];

function read(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: OPTIONS });
}

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = read(args);
  const [what = "", id = "", ...more] = positionals;
  if (more.length > 0) throw new UsageError("too many words");
  const query = new URLSearchParams();
  // Only the summary can be of all regions.
  if (values.region !== undefined || what !== "summary") query.set("region", regionOf(values));
  try {
    const answer = await ask(readApiSettings(), what, id, values, query);
    console.log(typeof answer === "string" ? answer.trimEnd() : JSON.stringify(answer, null, 2));
    return 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.error(`sluice: ${error.message}`);
    return 1;
  }
}

function regionOf({ region }: Values): string {
  if (region === undefined || !isRegion(region.toLowerCase()))
    throw new UsageError("--region must be us or eu");
  return parseRegion(region);
}

async function ask(api: ApiSettings, what: string, id: string, values: Values, query: URLSearchParams) {
  if (what === "list") {
    if (values.state !== undefined) query.set("state", values.state);
    if (values.tab !== undefined) query.set("tab", values.tab);
    return callApi(api, "GET", `replays?${query}`);
  }
  if (what === "summary") return callApi(api, "GET", `replays/summary?${query}`);
  if (what === "policy") return policy(api, values, query);
  if (what === "preview" || what === "draft") {
    const limit = values.limit === undefined ? {} : { limit: wholeNumber("--limit", values.limit) };
    const body = { selection: selectionOf(values), ...limit };
    if (what === "preview") return callApi(api, "POST", `replays/preview?${query}`, { body });
    const cause = values["root-cause"] === undefined ? {} : { rootCause: values["root-cause"] };
    return callApi(api, "POST", `replays?${query}`, {
      body: { ...body, name: values.name, ...cause, ...why(values) },
    });
  }
  if (!READS.includes(what) && !(REPLAY_VERBS as readonly string[]).includes(what))
    throw new UsageError(`unknown word "${what.slice(0, 40)}"`);
  if (!/^rpl_[0-9a-f]{32}$/.test(id)) throw new UsageError("expected rpl_ and 32 hex digits");
  if (what === "show") return callApi(api, "GET", `replays/${id}?${query}`);
  if (values.format !== undefined) {
    if (!FILES[what]?.includes(values.format))
      throw new UsageError(`--format of ${what} is one of: ${FILES[what]?.join(", ") ?? "none"}`);
    query.set("format", values.format);
    return callApi(api, "GET", `replays/${id}/${what}/export?${query}`, undefined, "file");
  }
  if (READS.includes(what)) return callApi(api, "GET", `replays/${id}/${what}?${query}`);
  const version =
    values["if-version"] === undefined
      ? await versionOf(api, id, query)
      : wholeNumber("--if-version", values["if-version"]);
  const body = { ...fieldsOf(values), ...why(values) };
  return callApi(api, "POST", `replays/${id}/${what}?${query}`, { body, version });
}

/** Shows it, or writes its next version when there is something to change. */
async function policy(api: ApiSettings, values: Values, query: URLSearchParams): Promise<unknown> {
  const path = `replays/policy?${query}`;
  if (values.fields === undefined) return callApi(api, "GET", path);
  const body = { policy: fieldsOf(values), ...why(values) };
  const given = values["if-version"];
  const version = given === undefined ? await versionAt(api, path) : wholeNumber("--if-version", given, true);
  return callApi(api, "POST", path, { body, version });
}

function selectionOf({ group, id, follow, tenant, destination, "death-reason": reason }: Values): object {
  if (follow !== undefined) return { deadAgainOf: follow };
  if (group !== undefined) return { groupId: group };
  if (id !== undefined) return { ids: id };
  const filter = { tenantId: tenant, destinationId: destination, reason };
  if (Object.values(filter).every((value) => value === undefined)) {
    throw new UsageError(
      "a selection is missing: --group, --id, --tenant, --destination, --death-reason or --follow",
    );
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

function wholeNumber(name: string, text: string, orZero = false): number {
  if (!/^[1-9]\d{0,8}$/.test(text) && !(orZero && text === "0"))
    throw new UsageError(`${name} must be a whole number`);
  return Number(text);
}

const versionOf = (api: ApiSettings, id: string, query: URLSearchParams) =>
  versionAt(api, `replays/${id}?${query}`);

async function versionAt(api: ApiSettings, path: string): Promise<number> {
  const answer = (await callApi(api, "GET", path)) as {
    data?: { version?: number };
    detail?: string;
  };
  const version = answer.data?.version;
  if (version === undefined)
    throw new SluiceError("region_unavailable", answer.detail ?? "the region does not answer");
  return version;
}
