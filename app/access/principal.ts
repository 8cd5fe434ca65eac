/**
 * Who sent a request: a signed-in person or a service token, with the grants that hold at this moment. Nothing is
 * remembered between requests, so that a revoked grant, token or session ends with the next one.
 */
import "server-only";
import { readGrants } from "#db/console/access/grants.ts";
import { readServiceToken } from "#db/console/access/service-tokens.ts";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { SluiceError } from "#domain/errors.ts";
import type { Grant } from "#domain/permissions.ts";
import { signIn } from "./auth.ts";

export interface Principal {
  kind: "user" | "token";
  /** How the audit names them: `user:ann@example.com`, `token:deploy`. */
  actor: string;
  name: string;
  /** Null for a token. */
  email: string | null;
  grants: readonly Grant[];
}

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Null when the request carries no valid credential. One that names a token is judged by the token alone.
 * @throws SluiceError `sign_in_unavailable` when nobody can be checked
 */
export async function readPrincipal(headers: Headers): Promise<Principal | null> {
  const authorization = headers.get("authorization");
  return withAccounts(() =>
    authorization === null ? readPerson(headers) : readToken(BEARER.exec(authorization)?.[1] ?? ""),
  );
}

async function readToken(text: string): Promise<Principal | null> {
  const token = await readServiceToken(consoleDatabase().pool, text);
  if (token === null) return null;
  return {
    kind: "token",
    actor: `token:${token.name}`,
    name: token.name,
    email: null,
    grants: [token.grant],
  };
}

async function readPerson(headers: Headers): Promise<Principal | null> {
  if (!headers.has("cookie")) return null;
  const session = await readSession(headers);
  if (session === null) return null;
  const { id, email, name } = session.user;
  const grants = await readGrants(consoleDatabase().pool, id);
  return grants === null ? null : { kind: "user", actor: `user:${email}`, name, email, grants };
}

async function readSession(headers: Headers) {
  try {
    return await signIn().auth.api.getSession({ headers, query: { disableCookieCache: true } });
  } catch (error) {
    // better-auth hides what its adapter threw behind this status.
    if ((error as { statusCode?: unknown }).statusCode !== 500) throw error;
    throw new SluiceError(
      "sign_in_unavailable",
      "Nobody can be checked: the console's own database does not answer. Workers go on without it.",
      undefined,
      { cause: error },
    );
  }
}
