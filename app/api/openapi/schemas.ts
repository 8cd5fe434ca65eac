/**
 * JSON Schemas for the document, made from the zod schemas that the routes read with and from those of the answers. What
 * zod cannot say (a check by a function) becomes words, taken from the refusal that a caller would get.
 */
import { z } from "zod";
import { REGIONS } from "#domain/region.ts";
import type { EXPORT_FORMATS } from "../export-schemas.ts";
import { region, regions } from "../schemas.ts";
import { namedSchemas } from "./answers.ts";
import type { Body } from "./operation.ts";

export type JsonSchema = { [name: string]: unknown };

const REF = "#/components/schemas/";
/** No parameter or field takes it, so whatever is asked says what it wants instead. */
const NOTHING_FITS = "\u0000";
const ZOD_S_OWN = /^(Invalid|Too (big|small)|Unrecognized)/;

/** The schemas of the answers by their names, each pointing to the others. Objects are open. */
export function answerSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(namedSchemas(), {
    uri: (id) => `${REF}${id}`,
    io: "input",
    unrepresentable: "any",
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .toSorted(([one], [two]) => (one < two ? -1 : 1))
      .map(([id, schema]) => [id, plain(schema)]),
  );
}

/** What a caller may send by this schema. */
export function inputSchema(schema: z.ZodType): JsonSchema {
  return plain(
    z.toJSONSchema(schema, {
      io: "input",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        if (zodSchema === region) jsonSchema.enum = [...REGIONS];
        if (zodSchema === regions)
          jsonSchema.description = `One or more of ${REGIONS.join(", ")}, with commas`;
        // The format says it; zod's pattern of all calendars does not help a reader.
        if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
      },
    }),
  );
}

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

/** The parameters of a strict query. */
export function queryParameters(query: z.ZodType): Parameter[] {
  const { properties = {}, required = [] } = inputSchema(query) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const words = refusalsOf(query, Object.keys(properties));
  return Object.entries(properties).map(([name, schema]) => {
    const description = schema.description ?? words.get(name);
    return {
      name,
      required: required.includes(name),
      ...(typeof description === "string" ? { description } : {}),
      schema,
    };
  });
}

/** In the words of the route itself: "must be a tenant's slug or ten_ id". */
function refusalsOf(query: z.ZodType, names: readonly string[]): Map<string, string> {
  const refused = query.safeParse(Object.fromEntries(names.map((name) => [name, NOTHING_FITS])));
  const words = new Map<string, string>();
  for (const issue of refused.error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!words.has(name) && !ZOD_S_OWN.test(issue.message)) words.set(name, issue.message);
  }
  return words;
}

/** The body of a request: a command without what stands in the path and in the headers. */
export function bodySchema({ schema, without = [], typed = false }: Body): JsonSchema {
  const whole = inputSchema(schema);
  const properties = { ...(whole.properties as Record<string, JsonSchema>) };
  let required = (whole.required as string[] | undefined) ?? [];
  for (const name of without) delete properties[name];
  required = required.filter((name) => !without.includes(name));
  if (typed) {
    properties.typed = {
      type: "string",
      enum: [...REGIONS],
      description: "The region's name, as in the path.",
    };
    required = [...required, "typed"];
  }
  const { required: _required, ...rest } = whole;
  return { ...rest, properties, ...(required.length === 0 ? {} : { required }) };
}

/** Without what is the same for the whole document, or only zod's. */
function plain(schema: object): JsonSchema {
  const { $schema: _schema, $id: _id, ...rest } = schema as JsonSchema;
  return rest;
}

/** Media types of a list as a file. */
export const FILE_TYPES: Readonly<Record<(typeof EXPORT_FORMATS)[number], string>> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
};
