/**
 * The doors of the sign-in. better-auth has many more; what is not named here does not exist. Attempts are counted
 * before a password is looked at, its errors become problems like all others, and no answer carries a session's token:
 * it travels in a cookie that no script can read.
 */
import "server-only";
import { pino } from "pino";
import { z } from "zod";
import {
  ACCOUNT_RULE,
  ADDRESS_RULE,
  ALL_RULE,
  countAttempt,
  forgetAttempts,
  type ThrottleRule,
} from "#db/console/access/login-throttle.ts";
import type { SignInSettings } from "#db/console/console-config.ts";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { type ErrorCode, SluiceError } from "#domain/errors.ts";
import { guarded, json, problem } from "../api/answer.ts";
import { parseBody, readJson } from "../api/change.ts";
import { AUTH_PATH, OIDC_PROVIDER, ownOrigins, signIn } from "./auth.ts";
import { refuseCrossSite } from "./cross-site.ts";
import { safeNext } from "./safe-next.ts";

const log = pino({ name: "sluice-console-auth" });
const MAX_BODY_BYTES = 4 * 1024;
const MAX_ADDRESS_CHARS = 64;

const credentials = z.strictObject({
  email: z.string().min(3).max(190),
  password: z.string().min(1).max(128),
});
const provider = z.strictObject({ next: z.string().max(2_000).optional() });

/** Serves one request under /api/auth. */
export function handleAuth(request: Request): Promise<Response> {
  return guarded(request, async (correlationId) => {
    const { settings } = signIn();
    const path = new URL(request.url).pathname.slice(AUTH_PATH.length);
    const door = `${request.method} ${path}`;
    if (door === `GET /callback/${OIDC_PROVIDER}`) return signIn().auth.handler(request);
    refuseCrossSite(request, ownOrigins(settings), true);
    if (door === "POST /sign-in/email" && settings.localAccounts) {
      return signInLocally(request, settings, correlationId);
    }
    if (door === "POST /sign-in/oidc" && settings.oidc !== null) return startOidc(request, correlationId);
    if (door === "POST /sign-out") return relay(request, "/sign-out", {}, correlationId);
    throw new SluiceError("not_found", "There is no such way to sign in here.");
  });
}

async function signInLocally(
  request: Request,
  settings: SignInSettings,
  correlationId: string,
): Promise<Response> {
  const body = parseBody(credentials, await readJson(request, MAX_BODY_BYTES));
  const account = `account:${body.email.trim().toLowerCase()}`;
  await throttle("all", ALL_RULE);
  const address = settings.addressHeader === null ? null : request.headers.get(settings.addressHeader);
  if (address !== null) await throttle(`address:${address.slice(0, MAX_ADDRESS_CHARS)}`, ADDRESS_RULE);
  await throttle(account, ACCOUNT_RULE);
  const response = await relay(request, "/sign-in/email", body, correlationId);
  if (response.ok) await withAccounts(() => forgetAttempts(consoleDatabase().pool, account));
  return response;
}

async function startOidc(request: Request, correlationId: string): Promise<Response> {
  const { next } = parseBody(provider, await readJson(request, MAX_BODY_BYTES));
  const callbackURL = safeNext(next ?? null);
  const errorCallbackURL = `/login?next=${encodeURIComponent(callbackURL)}`;
  const body = { provider: OIDC_PROVIDER, callbackURL, errorCallbackURL, disableRedirect: true };
  return relay(request, "/sign-in/social", body, correlationId);
}

/** @throws SluiceError `too_many_requests` with the wait in its data */
async function throttle(key: string, rule: ThrottleRule): Promise<void> {
  const waitMs = await withAccounts(() => countAttempt(consoleDatabase().pool, key, rule));
  if (waitMs === null) return;
  const minutes = Math.ceil(waitMs / 60_000);
  throw new SluiceError(
    "too_many_requests",
    `Too many attempts to sign in. Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`,
    { retryAfterMs: waitMs },
  );
}

/** Hands a request with a checked body to better-auth and answers with its cookies, without its body. */
async function relay(request: Request, path: string, body: object, correlationId: string): Promise<Response> {
  const { auth, settings } = signIn();
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/json");
  headers.delete("content-length");
  const inner = new Request(`${settings.consoleUrl}${AUTH_PATH}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const response = await auth.handler(inner);
  log.info(
    { event: "sign_in_door", path, status: response.status, correlationId },
    "asked to sign in or out",
  );
  const said = (await response.json().catch(() => ({}))) as { url?: unknown; code?: unknown };
  if (!response.ok) {
    const [code, detail] = explain(response.status, said.code);
    return problem(code, detail, correlationId);
  }
  const answer = json(
    typeof said.url === "string" ? { url: said.url } : {},
    200,
    "application/json",
    correlationId,
  );
  for (const cookie of response.headers.getSetCookie()) answer.headers.append("set-cookie", cookie);
  return answer;
}

/** What better-auth refused, in our words. */
function explain(status: number, code: unknown): [ErrorCode, string] {
  if (code === "FAILED_TO_CREATE_SESSION") return ["sign_in_refused", "This account was disabled."];
  if (status === 401 || code === "INVALID_EMAIL") return ["bad_credentials", "Check both and try again."];
  if (status === 403) return ["cross_site", "The request does not come from a page of the console."];
  if (status === 404) return ["sign_in_unavailable", "The identity provider does not answer."];
  return ["sign_in_unavailable", "The sign-in could not be carried out. Try again."];
}
