/**
 * GET /openapi.json: the document, built once from the list of routes (routes-*.ts) and their schemas. It is the same for
 * everybody and names no tenant, no person and no setting, which is why it needs no sign-in.
 */
import "server-only";
import { createHash } from "node:crypto";
import { ERRORS, type ErrorCode } from "#domain/errors.ts";
import { VERSION } from "#domain/version.ts";
import type { Method, Operation } from "./operation.ts";
import { CHANGES } from "./routes-changes.ts";
import { READS } from "./routes-reads.ts";
import { REPLAYS } from "./routes-replays.ts";
import { answerSchemas, bodySchema, FILE_TYPES, type JsonSchema, queryParameters } from "./schemas.ts";

export const OPERATIONS: readonly Operation[] = [...READS, ...CHANGES, ...REPLAYS];

const PROBLEM = "application/problem+json";
const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export interface OpenApiDocument {
  openapi: "3.1.0";
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  tags: { name: string }[];
  paths: Record<string, Partial<Record<Method, JsonSchema>>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
}

/** The whole document. */
export function openApiDocument(): OpenApiDocument {
  const paths: OpenApiDocument["paths"] = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describedOperation(operation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice",
      version: VERSION,
      description:
        "Everything that the console does. Errors are problem+json with a `code` that never changes its meaning. " +
        "What lies outside of the caller's scope is 404. Unknown parameters and fields are refused.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(OPERATIONS.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...answerSchemas(), Problem: problemSchema() },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A service token, `sluice_...`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "sluice.session_token",
          description: "A signed-in person's browser. Changes need its Origin header as well.",
        },
      },
    },
  };
}

function describedOperation(operation: Operation): JsonSchema {
  const { headers } = operation;
  const parameters = [
    ...pathParameters(operation.path),
    ...queryParameters(operation.query).map((parameter) => ({ in: "query", ...parameter })),
    ...headerParameters(headers),
  ];
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: [`Needs the action \`${operation.action}\`.`, operation.note].filter(Boolean).join(" "),
    tags: [tagOf(operation)],
    "x-sluice-action": operation.action,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: bodySchema(operation.body) } },
          },
        }),
    responses: { ...successes(operation), ...problems(operation.codes) },
  };
}

function tagOf({ path }: Operation): string {
  return path.split("/")[3] ?? "";
}

const ID_OF_RESOURCE: Readonly<Record<string, string>> = {
  tenants: "`ten_` and 32 hex digits",
  destinations: "`dst_` and 32 hex digits",
  deliveries: "`dlv_` and 32 hex digits",
  payloads: "`pay_` and 32 hex digits",
  "dead-letter-groups": "`dlg_` and 32 hex digits",
  replays: "`rpl_` and 32 hex digits",
  "saved-views": "`viw_` and 32 hex digits",
  tokens: "`tok_` and 32 hex digits",
  people: "`usr_` and 32 hex digits",
  grants: "`grt_` and 32 hex digits",
  regions: "The region's name: `us` or `eu`",
};

function pathParameters(path: string): JsonSchema[] {
  const parts = path.split("/");
  return parts.flatMap((part, index) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return [];
    const description = ID_OF_RESOURCE[parts[index - 1] ?? ""];
    return [{ name, in: "path", required: true, description, schema: { type: "string" } }];
  });
}

function headerParameters({ ifMatch, idempotencyKey }: Operation["headers"]): JsonSchema[] {
  const version = {
    name: "If-Match",
    in: "header",
    required: true,
    description: 'The version of the row that the caller saw, in quotes: `"3"`.',
    schema: { type: "string", pattern: '^"[1-9]\\d{0,8}"$' },
  };
  const key = {
    name: "Idempotency-Key",
    in: "header",
    required: idempotencyKey === "required",
    description: "The same request with the same key is done once.",
    schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
  };
  return [...(ifMatch ? [version] : []), ...(idempotencyKey ? [key] : [])];
}

const SUCCESS: Readonly<Record<200 | 201, string>> = { 200: "Done, or what was asked for.", 201: "Created." };

function successes({ status, answer, files, headers }: Operation): JsonSchema {
  const fields = successHeaders(headers);
  const content =
    answer === "file" ? fileContent(files ?? TEXT_FILES) : { "application/json": { schema: ref(answer) } };
  return Object.fromEntries(
    status.map((code) => [
      String(code),
      {
        description: SUCCESS[code],
        ...(Object.keys(fields).length === 0 ? {} : { headers: fields }),
        content,
      },
    ]),
  );
}

const TEXT_FILES = Object.fromEntries(Object.values(FILE_TYPES).map((type) => [type, null]));

function fileContent(files: NonNullable<Operation["files"]>): JsonSchema {
  const content = Object.entries(files).map(([type, name]) => [
    type,
    { schema: name === null ? { type: "string" } : ref(name) },
  ]);
  return Object.fromEntries(content);
}

function successHeaders({ etag, idempotencyKey, location }: Operation["headers"]): JsonSchema {
  const text = (description: string) => ({ description, schema: { type: "string" } });
  return {
    ...(etag ? { ETag: text("The row's version now, in quotes.") } : {}),
    ...(idempotencyKey
      ? { "Idempotency-Replayed": text("`true`: this request was done before; nothing was changed now.") }
      : {}),
    ...(location ? { Location: text("Where the new row is found.") } : {}),
  };
}

/** One answer for each status, with the codes that it may have and what they mean. */
function problems(codes: readonly ErrorCode[]): JsonSchema {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      String(status),
      {
        description: some.map((code) => `\`${code}\`: ${ERRORS[code].summary}`).join("\n\n"),
        content: {
          [PROBLEM]: {
            schema: { allOf: [ref("Problem"), { properties: { code: { enum: [...some] } } }] },
          },
        },
      },
    ]),
  );
}

/** RFC 9457. Facts of the code stand beside these. */
function problemSchema(): JsonSchema {
  const codes = [...new Set(OPERATIONS.flatMap((operation) => operation.codes))].toSorted();
  const text = { type: "string" };
  return {
    type: "object",
    properties: {
      type: { type: "string", description: "`urn:sluice:error:` and the code." },
      title: text,
      status: { type: "integer" },
      code: { type: "string", enum: codes },
      detail: text,
      correlationId: text,
      errors: {
        type: "array",
        items: {
          type: "object",
          properties: { pointer: text, detail: text },
          required: ["pointer", "detail"],
        },
      },
      retryAfterMs: { type: "integer" },
    },
    required: ["type", "title", "status", "code", "detail", "correlationId"],
  };
}

let built: { text: string; etag: string } | undefined;

/** The document as JSON. Whoever has it already is told so. */
export function openApiResponse(request: Request): Response {
  if (built === undefined) {
    const text = JSON.stringify(openApiDocument());
    built = { text, etag: `"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"` };
  }
  const headers = { etag: built.etag, "cache-control": "no-cache", "x-content-type-options": "nosniff" };
  if (request.headers.get("if-none-match") === built.etag)
    return new Response(null, { status: 304, headers });
  return new Response(built.text, {
    headers: { ...headers, "content-type": "application/json; charset=utf-8" },
  });
}
