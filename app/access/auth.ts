/**
 * better-auth on the console's own database: sessions, local passwords, one identity provider. Roles are not its
 * business (db/console/access), and neither is who may call it (handle-auth.ts, which serves only the paths it names).
 */
import "server-only";
import { randomUUID } from "node:crypto";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { prismaAdapter } from "better-auth/adapters/prisma";
import { genericOAuth } from "better-auth/plugins/generic-oauth";
import { pino } from "pino";
import { type OidcSettings, readSignInSettings, type SignInSettings } from "#db/console/console-config.ts";
import { consoleDatabase } from "#db/console/console-database.ts";

/** The name under which the identity provider's accounts are kept; part of its callback's path. */
export const OIDC_PROVIDER = "oidc";
export const AUTH_PATH = "/api/auth";

const log = pino({ name: "sluice-console-auth" });

/** Next loads modules more than once per process, so what is made once lives on globalThis. */
const shared = globalThis as typeof globalThis & {
  sluiceSignIn?: { settings: SignInSettings; auth: Auth };
};

type Auth = ReturnType<typeof createAuth>;

/** The sign-in and its settings, made on first use. @throws SluiceError `bad_config` */
export function signIn(): { settings: SignInSettings; auth: Auth } {
  if (shared.sluiceSignIn === undefined) {
    const settings = readSignInSettings();
    shared.sluiceSignIn = { settings, auth: createAuth(settings) };
  }
  return shared.sluiceSignIn;
}

/** The origins whose pages are ours: the console's, and on loopback its other name. */
export function ownOrigins({ consoleUrl }: Pick<SignInSettings, "consoleUrl">): string[] {
  const url = new URL(consoleUrl);
  const twin = { "127.0.0.1": "localhost", localhost: "127.0.0.1" }[url.hostname];
  return twin === undefined ? [url.origin] : [url.origin, `${url.protocol}//${twin}:${url.port}`];
}

function createAuth(settings: SignInSettings) {
  const { prisma } = consoleDatabase();
  return betterAuth({
    appName: "Sluice",
    baseURL: settings.consoleUrl,
    basePath: AUTH_PATH,
    secret: settings.secret,
    trustedOrigins: ownOrigins(settings),
    database: prismaAdapter(prisma, { provider: "postgresql", transaction: true }),
    user: { modelName: "consoleUser", validateUserInfo: (data) => refuseForeigner(settings.oidc, data.user) },
    session: {
      modelName: "consoleSession",
      expiresIn: settings.sessionSeconds,
      // A session ends when it said it would: one that is renewed by polling would never end on an open screen.
      disableSessionRefresh: true,
    },
    account: { modelName: "consoleAccount", updateAccountOnSignIn: false },
    verification: { modelName: "consoleVerification" },
    emailAndPassword: { enabled: settings.localAccounts, disableSignUp: true, minPasswordLength: 12 },
    plugins: settings.oidc === null ? [] : [genericOAuth({ config: [oidcConfig(settings.oidc)] })],
    databaseHooks: {
      session: { create: { before: refuseDisabled } },
      account: { create: { before: withoutTokens } },
    },
    // Counted by handle-auth.ts: the built-in limit knows callers by a header that any of them can write.
    rateLimit: { enabled: false },
    onAPIError: { errorURL: "/login" },
    telemetry: { enabled: false },
    // Wrong passwords are told by handle-auth.ts, with a correlation id and without an address.
    logger: { level: "error", log: (level, message) => log[level](message) },
    advanced: {
      cookiePrefix: "sluice",
      useSecureCookies: settings.consoleUrl.startsWith("https:"),
      database: { generateId: () => randomUUID() },
      ipAddress:
        settings.addressHeader === null
          ? { disableIpTracking: true }
          : { ipAddressHeaders: [settings.addressHeader] },
    },
  } satisfies BetterAuthOptions);
}

function oidcConfig(oidc: OidcSettings) {
  return {
    providerId: OIDC_PROVIDER,
    name: oidc.name,
    discoveryUrl: `${oidc.issuer}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    clientId: oidc.clientId,
    clientSecret: oidc.clientSecret,
    scopes: [...oidc.scopes],
    disableProviderLogout: true,
    mapProfileToUser: (profile: { name?: unknown; email?: unknown }) => ({
      name: String(profile.name || profile.email || "unknown"),
    }),
  };
}

/** Lets in only verified addresses, of the allowed domains where there are some. */
function refuseForeigner(
  oidc: OidcSettings | null,
  user: { email?: string | undefined; emailVerified?: boolean | undefined },
): undefined | { error: string } {
  const domain = user.email?.toLowerCase().split("@").at(-1) ?? "";
  const allowed = oidc === null || oidc.domains.length === 0 || oidc.domains.includes(domain);
  return allowed && user.emailVerified ? undefined : { error: "not_allowed" };
}

/** We only ask the provider who somebody is. Its tokens would open other doors, so they are not kept. */
async function withoutTokens(account: object) {
  const gone = { accessToken: null, refreshToken: null, idToken: null };
  return { data: { ...account, ...gone, accessTokenExpiresAt: null, refreshTokenExpiresAt: null } };
}

/** A disabled account gets no session, by whatever door it comes. */
async function refuseDisabled(session: { userId: string }): Promise<boolean> {
  const user = await consoleDatabase().prisma.consoleUser.findUnique({
    where: { id: session.userId },
    select: { disabledAt: true },
  });
  return user !== null && user.disabledAt === null;
}
