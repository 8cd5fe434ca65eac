/** People for the browser tests: one of each role, and some whose grant covers less. Passwords are made per run. */
import { randomUUID } from "node:crypto";
import { type APIRequestContext, type BrowserContextOptions, request } from "@playwright/test";
import { hashPassword, newPassword } from "#cli/passwords.ts";
import { addGrant, createAccount, type NewGrant } from "#db/console/access/grants.ts";
import { REGIONS } from "#domain/region.ts";
import type { World } from "./world.ts";

export interface Person {
  email: string;
  name: string;
  password: string;
}

const NAMES = ["viewer", "support", "operator", "admin", "us-operator", "eu-viewer", "nobody"] as const;

export type Accounts = Readonly<Record<(typeof NAMES)[number], Person>>;

const GRANTS: Readonly<Record<(typeof NAMES)[number], Pick<NewGrant, "role" | "regions"> | null>> = {
  viewer: { role: "viewer", regions: REGIONS },
  support: { role: "support", regions: REGIONS },
  operator: { role: "operator", regions: REGIONS },
  admin: { role: "admin", regions: REGIONS },
  "us-operator": { role: "operator", regions: ["us"] },
  "eu-viewer": { role: "viewer", regions: ["eu"] },
  nobody: null,
};

const RUN = randomUUID().slice(0, 8);

export const BY = {
  actor: "cli:e2e",
  role: "admin",
  reason: "account of a browser test",
  correlationId: randomUUID(),
} as const;

/** Makes all of them in the console's database, which is that of us. */
export async function createAccounts(regions: World["regions"]): Promise<Accounts> {
  const entries = await Promise.all(
    NAMES.map(async (name) => {
      const grant = GRANTS[name];
      return [
        name,
        await createPerson(regions, name, grant === null ? null : { ...grant, tenantIds: null }),
      ] as const;
    }),
  );
  return Object.fromEntries(entries) as unknown as Accounts;
}

/** One more person, with a grant of a test's own. */
export async function createPerson(
  regions: World["regions"],
  name: string,
  grant: Omit<NewGrant, "canReveal"> | null,
): Promise<Person> {
  const { pool } = regions.us;
  const person = {
    // A test process that starts again finds the accounts of the one before.
    email: `${name}-${RUN}@example.test`,
    name: `Person ${name}`,
    password: newPassword(),
  };
  const passwordHash = await hashPassword(person.password);
  await createAccount(pool, { ...person, passwordHash }, BY);
  if (grant !== null) await addGrant(pool, person.email, { ...grant, canReveal: false }, BY);
  return person;
}

/** Signs in through the API and returns the cookies. */
export async function signInAs(
  consoleUrl: string,
  { email, password }: Person,
): Promise<Exclude<BrowserContextOptions["storageState"], string | undefined>> {
  const client = await newClient(consoleUrl);
  const response = await client.post("/api/auth/sign-in/email", { data: { email, password } });
  if (!response.ok()) throw new Error(`${email} could not sign in: ${await response.text()}`);
  const state = await client.storageState();
  await client.dispose();
  return state;
}

type Cookies = ReturnType<typeof signInAs>;
/** By the console's origin and the address of the person. */
const sessions = new Map<string, Cookies>();

/**
 * The cookies of a person, signed in once in a test process: a password hash costs more than most tests ask for. Whoever
 * signs out, or ends a session, must sign in by `signInAs` instead.
 */
export function sessionOf(world: World, person: Person): Cookies {
  const key = `${world.consoleUrl} ${person.email}`;
  const known = sessions.get(key) ?? signInAs(world.consoleUrl, person);
  sessions.set(key, known);
  known.catch(() => sessions.delete(key));
  return known;
}

/** A client of the API as a person's browser would be one: with the origin of the console, and their cookies. */
export async function clientOf(world: World, person: Person): Promise<APIRequestContext> {
  return newClient(world.consoleUrl, await sessionOf(world, person));
}

/** A client without cookies; `headers` take the place of a browser's. */
export function newClient(
  baseURL: string,
  storageState?: BrowserContextOptions["storageState"],
  headers: Record<string, string> = { origin: baseURL },
): Promise<APIRequestContext> {
  return request.newContext({
    baseURL,
    extraHTTPHeaders: headers,
    storageState: storageState ?? { cookies: [], origins: [] },
  });
}
