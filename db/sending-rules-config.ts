/**
 * Where requests may go, read from the environment: `SLUICE_ALLOW_ADDRESSES`, addresses that are allowed although they
 * are not public, and `SLUICE_PLAIN_HTTP`, whether http without TLS is allowed. Whoever writes a destination and the
 * worker that sends to it read the same settings. Without them only https to public addresses is allowed.
 */
import { parseSendingRules, type SendingRules } from "#domain/destination-url.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";

const ALLOW_SETTING = "SLUICE_ALLOW_ADDRESSES";
const PLAIN_SETTING = "SLUICE_PLAIN_HTTP";

/** What `npm start`, the tests and the bench set: their receivers listen on this machine. */
export const LOCAL_SENDING_SETTINGS = { [ALLOW_SETTING]: "loopback", [PLAIN_SETTING]: "true" } as const;
/** The same as rules, for a worker inside this process. */
export const LOCAL_SENDING_RULES: SendingRules = readSendingRules(LOCAL_SENDING_SETTINGS);

/** @throws SluiceError `bad_config` naming the setting */
export function readSendingRules(
  env: Readonly<Record<string, string | undefined>> = process.env,
): SendingRules {
  const { allow } = named(ALLOW_SETTING, () => parseSendingRules({ allow: env[ALLOW_SETTING] }));
  const { plainHttp } = named(PLAIN_SETTING, () => parseSendingRules({ plainHttp: env[PLAIN_SETTING] }));
  return { allow, plainHttp };
}

function named<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    throw new SluiceError("bad_config", `${setting}: ${error.detail}`);
  }
}
