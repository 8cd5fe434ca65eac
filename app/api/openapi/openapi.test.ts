/**
 * The document is the API: every route is in it and nothing else, with the action, query and body that the route itself
 * names. The tree is walked, so a new route without a line in the list fails here.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import * as domainCommands from "#domain/commands.ts";
import * as domainConfigure from "#domain/commands-configure.ts";
import * as domainDelivery from "#domain/commands-delivery.ts";
import * as domainLimits from "#domain/commands-limits.ts";
import * as domainPause from "#domain/commands-pause.ts";
import * as domainReplay from "#domain/commands-replay.ts";
import * as domainSecret from "#domain/commands-secret.ts";
import { ERRORS, type ErrorCode, isErrorCode } from "#domain/errors.ts";
import { COMMANDS } from "../command-routes.ts";
import * as commandSchemas from "../command-schemas.ts";
import * as deadLettersSchemas from "../dead-letters-schemas.ts";
import * as deliveriesSchemas from "../deliveries-schemas.ts";
import * as enqueueSchemas from "../enqueue-schemas.ts";
import { isReplayVerb, REPLAY_COMMANDS } from "../replay-commands.ts";
import * as replaySchemas from "../replay-schemas.ts";
import * as schemas from "../schemas.ts";
import * as seriesSchemas from "../series-schemas.ts";
import * as shellSchemas from "../shell-schemas.ts";
import * as tenantsSchemas from "../tenants-schemas.ts";
import * as tokenSchemas from "../token-schemas.ts";
import { ANSWERS } from "./answers.ts";
import { OPERATIONS, openApiDocument, openApiResponse } from "./document.ts";
import type { Operation } from "./operation.ts";

vi.mock("server-only", () => ({}));

const ROOT = path.resolve(import.meta.dirname, "../../..");
const METHODS = /^export (?:async )?function (GET|POST|PUT|PATCH|DELETE)\b/gm;
const document = openApiDocument();

interface RouteFile {
  path: string;
  text: string;
  methods: string[];
}

function routeFiles(): RouteFile[] {
  return globSync("app/api/v1/**/route.ts", { cwd: ROOT }).map((file) => {
    const text = readFileSync(path.join(ROOT, file), "utf8");
    const methods = [...text.matchAll(METHODS)].map(([, method]) => String(method).toLowerCase());
    const folder = path.posix.dirname(file.split(path.sep).join("/"));
    return { path: folder.replace(/^app/, "").replaceAll("[", "{").replaceAll("]", "}"), text, methods };
  });
}

/** The folder that serves every verb of a batch stands for each verb by itself. */
const routes = routeFiles().flatMap((route) => {
  if (route.path !== "/api/v1/replays/{id}/{verb}") return [route];
  return Object.keys(REPLAY_COMMANDS).map((verb) => ({ ...route, path: route.path.replace("{verb}", verb) }));
});
const keyOf = ({ method, path: at }: Pick<Operation, "method" | "path">) => `${method} ${at}`;

/** The text of one exported method. */
function handlerOf({ text }: RouteFile, method: string): string {
  const start = text.search(new RegExp(`^export (?:async )?function ${method.toUpperCase()}\\b`, "m"));
  const end = text.indexOf("\nexport ", start + 1);
  return text.slice(start, end === -1 ? undefined : end);
}

const MODULES = [
  schemas,
  commandSchemas,
  deadLettersSchemas,
  deliveriesSchemas,
  enqueueSchemas,
  replaySchemas,
  seriesSchemas,
  shellSchemas,
  tenantsSchemas,
  tokenSchemas,
];
const schemaNamed = (name: string) =>
  MODULES.map((module) => (module as Record<string, unknown>)[name]).find((found) => found !== undefined);

/** Every value under a name, at any depth. */
function valuesOf(node: unknown, name: string): unknown[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => [
    ...(key === name ? [value] : []),
    ...valuesOf(value, name),
  ]);
}

describe("the list of routes", () => {
  it("has every exported method below app/api/v1, and nothing else", () => {
    const exported = routes.flatMap((route) => route.methods.map((method) => `${method} ${route.path}`));
    expect(exported.length).toBeGreaterThan(60);
    expect(OPERATIONS.map(keyOf).toSorted()).toEqual(exported.toSorted());
  });

  it.each(OPERATIONS.map((operation) => [keyOf(operation), operation] as const))(
    "says what the route itself asks for: %s",
    (_key, operation) => {
      const route = routes.find(({ path: at }) => at === operation.path);
      const handler = handlerOf(route as RouteFile, operation.method);
      const action = /answer\(request, "(\w+)"/.exec(handler)?.[1] ?? /action: "(\w+)"/.exec(handler)?.[1];
      if (action !== undefined) expect(operation.action).toBe(action);
      for (const [, query] of handler.matchAll(/parseQuery\((\w+), request\)/g)) {
        expect(operation.query, query).toBe(schemaNamed(String(query)));
      }
      const body = /\bbody: (\w+)/.exec(handler)?.[1];
      if (body === "null") expect(operation.body).toBeUndefined();
      else if (body !== undefined) expect(operation.body?.schema).toBe(schemaNamed(body));
      const table = /(?:COMMANDS|GROUP_COMMANDS)\.(\w+)/.exec(handler)?.[1];
      if (table !== undefined) expect(operation.id.toLowerCase()).toContain(table.toLowerCase());
      const configured = /\b(CREATE|UPDATE|DELETE)_(TENANT|DESTINATION)\b/.exec(handler)?.[0];
      if (configured !== undefined)
        expect(operation.id.toLowerCase()).toBe(configured.toLowerCase().replace("_", ""));
      const enqueues = /\benqueue\(request\)/.test(handler) ? "enqueue" : undefined;
      if (enqueues !== undefined) expect(operation.action).toBe(enqueues);
      const verb = handler.includes("REPLAY_COMMANDS[verb]") ? operation.path.split("/").at(-1) : undefined;
      if (verb !== undefined) {
        expect(isReplayVerb(verb) && REPLAY_COMMANDS[verb].action).toBe(operation.action);
        expect(operation.id.toLowerCase()).toBe(`replay${verb.replaceAll("-", "")}`);
      }
      const drafts = /\b(?:draft|preview)\(request\)/.test(handler) ? "replay_draft" : undefined;
      if (drafts !== undefined) expect(operation.action).toBe(drafts);
      // A route that names none of these would pass without having been looked at.
      expect(action ?? table ?? configured ?? enqueues ?? verb ?? drafts).toBeDefined();
    },
  );

  it("names for every command the schema that the command reads with", () => {
    const known = Object.assign(
      {},
      domainCommands,
      domainConfigure,
      domainDelivery,
      domainLimits,
      domainPause,
      domainSecret,
    );
    const looked = Object.entries(COMMANDS).filter(([, { run }]) => {
      const file = `db/console/commands/${run.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
      const [found] = globSync(file, { cwd: ROOT });
      if (found === undefined) return false;
      const name = /readCommand\((\w+),/.exec(readFileSync(path.join(ROOT, found), "utf8"))?.[1] ?? "";
      const operation = OPERATIONS.find(({ path: at, id }) => at.includes("/{id}/") && id === nameOf(run));
      expect(operation?.body?.schema, `${run.name} reads ${name}`).toBe(
        (known as Record<string, unknown>)[name],
      );
      return true;
    });
    // Two wrap theirs: rotating a secret and the test event.
    expect(looked).toHaveLength(Object.keys(COMMANDS).length - 2);
  });

  it("names for every verb of a batch the schema that the command reads with", () => {
    const text = globSync("db/console/replay/*.ts", { cwd: ROOT })
      .map((file) => readFileSync(path.join(ROOT, file), "utf8"))
      .join("\n");
    for (const [verb, { run }] of Object.entries(REPLAY_COMMANDS)) {
      const [, body = ""] = text.split(`export async function ${run.name}(`);
      const name = /readCommand\((\w+),/.exec(body)?.[1] ?? "";
      const operation = OPERATIONS.find(({ path: at }) => at === `/api/v1/replays/{id}/${verb}`);
      expect(operation?.body?.schema, `${run.name} reads ${name}`).toBe(
        (domainReplay as Record<string, unknown>)[name],
      );
    }
  });
});

function nameOf(run: unknown): string | undefined {
  return Object.entries(COMMANDS).find(([, route]) => route.run === run)?.[0];
}

describe("the document", () => {
  it("is OpenAPI 3.1 in shape", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const [at, item] of Object.entries(document.paths)) {
      expect(at).toMatch(/^\/api\/v1(\/([a-z-]+|\{\w+\}))+$/);
      for (const [method, operation] of Object.entries(item)) checkOperation(at, method, operation, tags);
    }
  });

  it("has every operationId once", () => {
    const ids = valuesOf(document.paths, "operationId");
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(OPERATIONS.length);
  });

  it("points to nothing that is not there, and holds nothing that nobody points to", () => {
    const refs = valuesOf(document, "$ref").map(String);
    const names = Object.keys(document.components.schemas);
    expect(refs.length).toBeGreaterThan(OPERATIONS.length);
    expect(refs.filter((ref) => !names.includes(ref.replace("#/components/schemas/", "")))).toEqual([]);
    expect(names.filter((name) => !refs.includes(`#/components/schemas/${name}`))).toEqual([]);
  });

  it("uses every answer that it knows", () => {
    const used = new Set(OPERATIONS.map(({ answer }) => answer));
    expect(Object.keys(ANSWERS).filter((name) => !used.has(name as keyof typeof ANSWERS))).toEqual([]);
  });

  it("is JSON: reading it again gives the same", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it("says for a version what the routes need, and for a body what stands nowhere else", () => {
    const pause = document.paths["/api/v1/tenants/{id}/pause"]?.post;
    const names = valuesOf(pause?.parameters, "name");
    expect(names).toEqual(["id", "region", "If-Match", "Idempotency-Key"]);
    const [schema] = valuesOf(pause?.requestBody, "schema") as { properties: object; required: string[] }[];
    expect(Object.keys(schema?.properties ?? {}).toSorted()).toEqual(["end", "reason", "ticket"]);
    expect(schema?.required.toSorted()).toEqual(["end", "reason"]);
    expect(pause?.parameters).toContainEqual(
      expect.objectContaining({
        name: "region",
        required: true,
        schema: expect.objectContaining({ enum: ["us", "eu"] }),
      }),
    );
  });

  it("comes from one place and says whether it changed", async () => {
    const first = openApiResponse(new Request("http://console.example/openapi.json"));
    expect(first.headers.get("content-type")).toContain("application/json");
    expect(await first.json()).toEqual(JSON.parse(JSON.stringify(document)));
    const etag = String(first.headers.get("etag"));
    const again = openApiResponse(
      new Request("http://console.example/openapi.json", { headers: { "if-none-match": etag } }),
    );
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
  });
});

function checkOperation(
  at: string,
  method: string,
  operation: Record<string, unknown>,
  tags: ReadonlySet<string>,
): void {
  const where = `${method} ${at}`;
  expect(operation, where).toMatchObject({
    operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
    summary: expect.stringMatching(/\S/),
  });
  for (const tag of operation.tags as string[]) expect(tags, where).toContain(tag);
  const parameters = (operation.parameters ?? []) as { name: string; in: string; required: boolean }[];
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  expect(
    inPath.map(({ name }) => `{${name}}`),
    where,
  ).toEqual(at.match(/\{\w+\}/g) ?? []);
  for (const parameter of parameters) {
    expect(parameter, where).toMatchObject({ in: expect.stringMatching(/^(path|query|header)$/) });
    expect(parameter, where).toMatchObject({ required: expect.any(Boolean), schema: expect.any(Object) });
    if (parameter.in === "path") expect(parameter.required, where).toBe(true);
  }
  expect(new Set(parameters.map(({ name, in: place }) => `${place} ${name}`)).size).toBe(parameters.length);
  if (method === "get") expect(operation.requestBody, where).toBeUndefined();
  const responses = Object.entries(operation.responses as Record<string, { description?: string }>);
  expect(responses.some(([status]) => status.startsWith("2"))).toBe(true);
  for (const [status, { description }] of responses) {
    expect(status, where).toMatch(/^[2345]\d\d$/);
    expect(description, where).toMatch(/\S/);
  }
}

/** Codes that are thrown in these rooms, but that no answer of the API can have. */
const NEVER_ANSWERED: readonly ErrorCode[] = [
  // At start, or by the sign-in itself, which is no part of /api/v1.
  "region_mismatch",
  "database_unreachable",
  "disk_full",
  "migration_edited",
  "migration_failed",
  "port_busy",
  "schema_outdated",
  "database_time_zone",
  "bad_credentials",
  "sign_in_refused",
  // Of receiving.
  "bad_signature",
  "bad_envelope",
  "stale_timestamp",
  // Of no route: for a method or a path that is none.
  "method_not_allowed",
  "bad_path",
  // The schemas of the edge say it before: invalid_query, invalid_body.
  "bad_region",
  "bad_secret",
  "bad_fact",
  "no_destination",
  "bad_service_class",
  "batch_too_large",
  // Of what the console does not offer yet.
  "empty_selection",
  "illegal_transition",
];

describe("the errors", () => {
  const described = new Set(OPERATIONS.flatMap(({ codes }) => codes));

  it("are all described where a route can answer them, with their status and meaning", () => {
    for (const operation of OPERATIONS) {
      const responses = document.paths[operation.path]?.[operation.method]?.responses as Record<
        string,
        { description: string }
      >;
      for (const code of operation.codes) {
        expect(responses[String(ERRORS[code].status)]?.description, keyOf(operation)).toContain(
          `\`${code}\`: ${ERRORS[code].summary}`,
        );
      }
    }
  });

  it("leave no code of the catalogue out, but those that no route answers", () => {
    const left = Object.keys(ERRORS).filter((code) => !described.has(code as ErrorCode));
    expect(left.toSorted()).toEqual(NEVER_ANSWERED.toSorted());
  });

  it("are those that the rooms behind the API throw", () => {
    const files = globSync(["app/api/**/*.ts", "app/access/*.ts", "db/console/**/*.ts"], {
      cwd: ROOT,
    }).filter((file) => !file.endsWith(".test.ts") && !file.includes("openapi"));
    const thrown = files.flatMap((file) => {
      const text = readFileSync(path.join(ROOT, file), "utf8");
      return [...text.matchAll(/SluiceError\(\s*"(\w+)"/g)].map(([, code]) => String(code));
    });
    expect(thrown.length).toBeGreaterThan(50);
    const missing = new Set(
      thrown.filter(
        (code) =>
          isErrorCode(code) && !described.has(code) && !(NEVER_ANSWERED as readonly string[]).includes(code),
      ),
    );
    expect([...missing]).toEqual([]);
  });

  it("have one shape", () => {
    const problem = z.fromJSONSchema(document.components.schemas.Problem as never);
    const good = {
      type: "urn:sluice:error:not_found",
      title: "Not found",
      status: 404,
      code: "not_found",
      detail: "No such row.",
      correlationId: "x",
    };
    expect(problem.safeParse({ ...good, current: null }).success).toBe(true);
    expect(problem.safeParse({ ...good, code: "made_up" }).success).toBe(false);
    expect(problem.safeParse({ ...good, detail: undefined }).success).toBe(false);
  });
});
