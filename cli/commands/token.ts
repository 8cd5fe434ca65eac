/** `sluice token`: service tokens for programs. A token is printed once; only its hash is stored. */
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import {
  createServiceToken,
  listServiceTokens,
  MAX_TOKEN_DAYS,
  revokeServiceToken,
} from "#db/console/access/service-tokens.ts";
import { ACTIONS, type Action, isAction } from "#domain/permissions.ts";
import { REGIONS } from "#domain/region.ts";
import { UsageError } from "../command.ts";
import {
  readChange,
  readRegions,
  readRole,
  readTenants,
  SCOPE_OPTIONS,
  withConsolePool,
} from "./access-options.ts";

export const help = `Usage: sluice token create <name> [--role viewer] [--scope read ...] [--region us,eu] [--tenant <slug> ...] [--days 90]
       sluice token revoke <name or tok_id>
       sluice token list

  create    prints the token, this once; send it as "Authorization: Bearer <token>"
  revoke    ends it at once

A token does only its scopes, and of those only what its role may. Scopes: ${ACTIONS.join(", ")}.
Each change is audited; --reason says why. Works on CONSOLE_DATABASE_URL, by default the us database (DATABASE_URL_US),
or that of the running "sluice up".`;

const NAME_SHAPE = /^[a-z0-9][a-z0-9-]{0,79}$/;
const DEFAULT_DAYS = "90";

const OPTIONS = {
  ...SCOPE_OPTIONS,
  scope: { type: "string", multiple: true },
  days: { type: "string", default: DEFAULT_DAYS },
} as const;

type Values = ReturnType<typeof parse>["values"];

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const [verb, name, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError("too many arguments");
  if (verb === "list" && name === undefined) return list();
  if (verb !== "create" && verb !== "revoke") throw new UsageError("say create, revoke or list");
  if (name === undefined) throw new UsageError("a name is missing");
  return verb === "create" ? create(name, values) : revoke(name, values);
}

function parse(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: OPTIONS });
}

async function create(name: string, values: Values): Promise<number> {
  if (!NAME_SHAPE.test(name)) throw new UsageError("a name is lower case letters, digits and dashes");
  const days = Number(values.days);
  if (!Number.isInteger(days) || days < 1 || days > MAX_TOKEN_DAYS) {
    throw new UsageError(`--days must be 1 to ${MAX_TOKEN_DAYS}`);
  }
  const role = readRole(values.role ?? "viewer");
  const scopes = readScopes(values.scope ?? ["read"]);
  const regions = readRegions(values.region);
  const tenantIds = await readTenants(values.tenant, regions);
  const by = readChange(values.reason);
  const made = await withConsolePool((pool) =>
    createServiceToken(pool, { name, role, scopes, regions, tenantIds, days }, by, randomBytes),
  );
  // The token alone on standard output, so that it can be piped into a secret store.
  console.error(
    `${made.id} "${name}", ${role} in ${regions.join(" and ")}, until ${made.expiresAt}; shown this once:`,
  );
  console.log(made.token);
  return 0;
}

async function revoke(name: string, values: Values): Promise<number> {
  const by = readChange(values.reason);
  const id = await withConsolePool((pool) => revokeServiceToken(pool, name, REGIONS, by));
  console.log(`revoked ${id}`);
  return 0;
}

async function list(): Promise<number> {
  const tokens = await withConsolePool((pool) => listServiceTokens(pool, REGIONS));
  for (const { id, name, role, scopes, regions, expiresAt, revokedAt } of tokens) {
    const state = revokedAt === null ? `until ${expiresAt}` : `revoked ${revokedAt}`;
    console.log(`${id}  ${name}  ${role} in ${regions.join(" and ")}  ${scopes.join(",")}  ${state}`);
  }
  if (tokens.length === 0) console.log("no tokens");
  return 0;
}

function readScopes(names: readonly string[]): Action[] {
  const scopes = [...new Set(names.flatMap((name) => name.split(",")))];
  const wrong = scopes.find((name) => !isAction(name));
  if (wrong !== undefined) throw new UsageError(`--scope ${wrong.slice(0, 40)} is no action`);
  return scopes.filter(isAction);
}
