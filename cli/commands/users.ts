/** `sluice users`: people and their grants, in the console's own database. A password is shown once and stored hashed. */
import { parseArgs } from "node:util";
import { addGrant, createAccount, listAccounts, revokeGrants } from "#db/console/access/grants.ts";
import type { Grant } from "#domain/permissions.ts";
import { UsageError } from "../command.ts";
import { hashPassword, newPassword } from "../passwords.ts";
import {
  readChange,
  readRegions,
  readRole,
  readTenants,
  SCOPE_OPTIONS,
  withConsolePool,
} from "./access-options.ts";

export const help = `Usage: sluice users add <e-mail> [--name <name>] [--local] [--role <role> ...]
       sluice users grant <e-mail> --role <role> [--region us,eu] [--tenant <slug> ...] [--reveal]
       sluice users revoke <e-mail> [--disable]
       sluice users list

  add       makes an account; with --local it gets a password, printed once, else it signs in with the identity provider
  grant     adds a role: viewer, support, operator or admin, in these regions (default: all) and tenants (default: all);
            --reveal also lets it see bodies
  revoke    takes all grants away and ends the sessions; with --disable the account can no longer sign in
  list      accounts with their grants

Each change is audited; --reason says why (10 to 500 characters). Works on CONSOLE_DATABASE_URL, by default the us
database (DATABASE_URL_US), or that of the running "sluice up".`;

const EMAIL_SHAPE = /^[^\s@]+@[^\s@]+$/;
const MAX_EMAIL_CHARS = 190;

const OPTIONS = {
  ...SCOPE_OPTIONS,
  name: { type: "string" },
  local: { type: "boolean", default: false },
  reveal: { type: "boolean", default: false },
  disable: { type: "boolean", default: false },
} as const;

type Values = ReturnType<typeof parse>["values"];

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parse(args);
  const [verb, email, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError("too many arguments");
  if (verb === "list" && email === undefined) return list();
  if (verb !== "add" && verb !== "grant" && verb !== "revoke") {
    throw new UsageError("say add, grant, revoke or list");
  }
  if (email === undefined || !EMAIL_SHAPE.test(email) || email.length > MAX_EMAIL_CHARS) {
    throw new UsageError("an e-mail address is missing");
  }
  if (verb === "add") return add(email, values);
  return verb === "grant" ? grant(email, values) : revoke(email, values);
}

function parse(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options: OPTIONS });
}

async function add(email: string, values: Values): Promise<number> {
  const by = readChange(values.reason);
  // A wrong role is found before the account is made.
  if (values.role !== undefined) readRole(values.role);
  const password = values.local ? newPassword() : null;
  const passwordHash = password === null ? null : await hashPassword(password);
  await withConsolePool((pool) =>
    createAccount(pool, { email, name: values.name ?? email, passwordHash }, by),
  );
  console.log(`added ${email}`);
  if (password !== null) console.log(`password, shown this once: ${password}`);
  return values.role === undefined ? 0 : grant(email, values);
}

async function grant(email: string, values: Values): Promise<number> {
  const role = readRole(values.role);
  if (values.reveal && role === "viewer") throw new UsageError("a viewer sees no bodies: leave out --reveal");
  const regions = readRegions(values.region);
  const tenantIds = await readTenants(values.tenant, regions);
  const by = readChange(values.reason);
  await withConsolePool((pool) =>
    addGrant(pool, email, { role, regions, tenantIds, canReveal: values.reveal }, by),
  );
  console.log(
    `${email} is now ${words({ role, regions, tenantIds, canReveal: values.reveal, actions: null })}`,
  );
  return 0;
}

async function revoke(email: string, values: Values): Promise<number> {
  const by = readChange(values.reason);
  const count = await withConsolePool((pool) => revokeGrants(pool, email, { disable: values.disable }, by));
  console.log(
    `${email}: ${count} grants taken away, sessions ended${values.disable ? ", account disabled" : ""}`,
  );
  return 0;
}

async function list(): Promise<number> {
  const accounts = await withConsolePool(listAccounts);
  for (const { email, disabled, grants } of accounts) {
    const what = disabled ? "disabled" : grants.map(words).join("; ") || "no role";
    console.log(`${email}  ${what}`);
  }
  if (accounts.length === 0) console.log('no accounts; "sluice users add" makes one');
  return 0;
}

function words({ role, regions, tenantIds, canReveal }: Grant): string {
  const tenants = tenantIds === null ? "" : `, ${tenantIds.length} tenants`;
  return `${role} in ${regions.join(" and ")}${tenants}${canReveal ? ", may see bodies" : ""}`;
}
