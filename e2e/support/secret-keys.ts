/**
 * The key that seals the signing secrets of the browser tests' databases. It is fixed, so that a test process that starts
 * again can open what the one before has sealed; it protects nothing outside a throw-away database.
 */
import { parseSecretKeys } from "#db/secrets-config.ts";

/** A value for SLUICE_SECRET_KEYS. */
export const SECRET_KEYS = `e2e:${Buffer.alloc(32, 5).toString("base64")}`;
export const KEYRING = parseSecretKeys(SECRET_KEYS);

/** Signs the cookies of every console of the tests, so that a session of one counts in the others. */
export const AUTH_SECRET = Buffer.alloc(32, 6).toString("base64url");
