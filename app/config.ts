/**
 * What the console reads from its environment when it runs, never when it is built.
 * It is the only file of this room that looks at the environment.
 */
import "server-only";

const DEFAULT_ENVIRONMENT = "DEMO";
const MAX_NAME_LENGTH = 24;

/** The name shown in the top bar (`SLUICE_ENVIRONMENT`, default DEMO), cut to 24 characters. */
export function readEnvironmentName(env: NodeJS.ProcessEnv = process.env): string {
  const name = env.SLUICE_ENVIRONMENT?.trim();
  return name ? name.slice(0, MAX_NAME_LENGTH) : DEFAULT_ENVIRONMENT;
}
