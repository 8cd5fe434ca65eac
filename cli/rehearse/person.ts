/**
 * A person of a rehearsal at the console's API: signed in with a demo account, or with a service token. What the API refuses
 * is an error with its own words. It must never reach a database: the API's checks are what a rehearsal is about.
 */
import { randomUUID } from "node:crypto";
import type { Credential } from "./rehearse-config.ts";

const CALL_TIMEOUT_MS = 20_000;

/** The API said no. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly status: number;
  readonly code: string;

  constructor(what: string, status: number, code: string, detail: string) {
    super(`${what}: ${status} ${code}: ${detail}`);
    this.status = status;
    this.code = code;
  }
}

export interface Sent {
  readonly body: object;
  /** Goes into If-Match. */
  readonly version?: number | undefined;
  /** The request's own key; a fresh one when it is left out. */
  readonly key?: string;
  readonly method?: "POST" | "DELETE";
}

export interface Person {
  /** As the API knows them. */
  readonly name: string;
  /** What the caller may do somewhere. */
  readonly actions: readonly string[];
  /** @param path below /api/v1/ @throws ApiRefusal */
  get<T>(path: string): Promise<T>;
  send<T>(path: string, sent: Sent): Promise<T>;
}

interface Me {
  readonly name: string;
  readonly email: string | null;
  readonly actions: readonly string[];
}

/** @throws ApiRefusal when the console does not know them; the network's own error when it does not answer */
export async function openPerson(consoleUrl: string, credential: Credential): Promise<Person> {
  const proof: Readonly<Record<string, string>> =
    "token" in credential
      ? { authorization: `Bearer ${credential.token}` }
      : { cookie: await signIn(consoleUrl, credential), origin: consoleUrl };
  const get = <T>(path: string) => call<T>(consoleUrl, proof, path);
  const me = await get<Me>("me");
  return {
    name: me.email ?? me.name,
    actions: me.actions,
    get,
    send: (path, sent) => call(consoleUrl, proof, path, sent),
  };
}

async function call<T>(
  consoleUrl: string,
  proof: Readonly<Record<string, string>>,
  path: string,
  sent?: Sent,
): Promise<T> {
  const method = sent === undefined ? "GET" : (sent.method ?? "POST");
  const response = await fetch(`${consoleUrl}/api/v1/${path}`, {
    method,
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    redirect: "error",
    headers: {
      ...proof,
      accept: "application/json",
      ...(sent === undefined
        ? {}
        : { "content-type": "application/json", "idempotency-key": sent.key ?? randomUUID() }),
      ...(sent?.version === undefined ? {} : { "if-match": `"${sent.version}"` }),
    },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent.body) }),
  });
  const answer: unknown = await response.json().catch(() => ({}));
  if (response.ok) return answer as T;
  const { code = "no_code", detail = "nothing more" } = answer as { code?: string; detail?: string };
  // The query may be long and says nothing to a person.
  throw new ApiRefusal(`${method} ${path.split("?", 1)[0]}`, response.status, code, detail);
}

/** @returns the Cookie header */
async function signIn(consoleUrl: string, account: { email: string; password: string }): Promise<string> {
  const response = await fetch(`${consoleUrl}/api/auth/sign-in/email`, {
    method: "POST",
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    headers: { "content-type": "application/json", origin: consoleUrl },
    body: JSON.stringify({ email: account.email, password: account.password }),
  });
  if (!response.ok) {
    throw new ApiRefusal(`sign-in of ${account.email}`, response.status, "no_sign_in", "was refused");
  }
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0]);
  return cookies.join("; ");
}
