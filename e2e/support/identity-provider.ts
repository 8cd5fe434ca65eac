/**
 * A small OpenID Connect provider for the browser tests: discovery, keys, authorisation with a code, tokens. It lets in
 * whoever the test has set, without asking; it checks the client, the redirect address and PKCE as a real one does.
 */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomUUID,
  sign,
} from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const CLIENT_ID = "sluice-e2e";
export const CLIENT_SECRET = "secret-of-the-browser-tests";
const MAX_BODY_CHARS = 10_000;

export interface Identity {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
}

export interface IdentityProvider {
  issuer: string;
  /** Who signs in next; null: the person declines. */
  person: Identity | null;
  stop(): Promise<void>;
}

interface Pending {
  person: Identity;
  nonce: string | null;
  challenge: string;
  redirectUri: string;
}

/** What one running provider knows. */
interface State {
  issuer: string;
  codes: Map<string, Pending>;
  keys: KeyPairKeyObjectResult;
  redirectUri: () => string;
  provider: IdentityProvider;
}

/** Starts it on a free loopback port. `redirectUri` is asked when it is needed, because the console's port comes later. */
export async function startIdentityProvider(redirectUri: () => string): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: IdentityProvider = {
    issuer,
    person: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const state: State = { issuer, codes: new Map(), keys, redirectUri, provider };
  server.on("request", (request, response) => {
    handle(state, request, response).catch((error: unknown) =>
      respond(response, 500, { error: String(error) }),
    );
  });
  return provider;
}

async function handle(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", state.issuer);
  switch (url.pathname) {
    case "/.well-known/openid-configuration":
      respond(response, 200, discovery(state.issuer));
      break;
    case "/jwks": {
      const key = state.keys.publicKey.export({ format: "jwk" });
      respond(response, 200, { keys: [{ ...key, kid: "k", alg: "RS256", use: "sig" }] });
      break;
    }
    case "/authorize":
      authorize(state, url.searchParams, response);
      break;
    case "/token":
      giveTokens(state, new URLSearchParams(await readBody(request)), request, response);
      break;
    default:
      respond(response, 404, {});
  }
}

function authorize(
  { provider, codes, redirectUri }: State,
  query: URLSearchParams,
  response: ServerResponse,
) {
  const to = new URL(query.get("redirect_uri") ?? "about:blank");
  if (query.get("client_id") !== CLIENT_ID || to.href !== redirectUri()) {
    respond(response, 400, { error: "invalid_request" });
    return;
  }
  const redirect = to.href;
  to.searchParams.set("state", query.get("state") ?? "");
  if (provider.person === null) to.searchParams.set("error", "access_denied");
  else {
    const code = randomUUID();
    codes.set(code, {
      person: provider.person,
      nonce: query.get("nonce"),
      challenge: query.get("code_challenge") ?? "",
      redirectUri: redirect,
    });
    to.searchParams.set("code", code);
  }
  response.writeHead(302, { location: to.href }).end();
}

function giveTokens(state: State, body: URLSearchParams, request: IncomingMessage, response: ServerResponse) {
  const code = body.get("code") ?? "";
  const pending = state.codes.get(code);
  // A code counts once.
  state.codes.delete(code);
  const verifier = createHash("sha256")
    .update(body.get("code_verifier") ?? "")
    .digest("base64url");
  const basic = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64")}`;
  const known = request.headers.authorization === basic || body.get("client_secret") === CLIENT_SECRET;
  const fits = pending?.challenge === verifier && pending.redirectUri === body.get("redirect_uri");
  if (!known || pending === undefined || !fits) {
    respond(response, 400, { error: "invalid_grant" });
    return;
  }
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const claims = { iss: state.issuer, aud: CLIENT_ID, iat: nowSeconds, exp: nowSeconds + 300 };
  const idToken = jwt({ ...claims, nonce: pending.nonce, ...pending.person }, state.keys.privateKey);
  respond(response, 200, {
    access_token: randomUUID(),
    token_type: "Bearer",
    expires_in: 300,
    id_token: idToken,
  });
}

function jwt(claims: object, privateKey: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", kid: "k", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`;
}

function discovery(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text = (text + String(chunk)).slice(0, MAX_BODY_CHARS);
  return text;
}
