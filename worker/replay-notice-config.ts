/** Where notices of replays go, read from the environment. The address may hold a secret: it stands in no message and no log. */
import { z } from "zod";
import type { Environment as Env } from "#db/config.ts";
import { SluiceError } from "#domain/errors.ts";

const Hook = z.url({ protocol: /^https?$/ }).max(2_000);

/**
 * Null: nobody is told outside of the console.
 * @throws SluiceError `bad_config`
 */
export function readReplayHook(env: Env = process.env): string | null {
  const text = env.SLUICE_REPLAY_HOOK_URL?.trim() ?? "";
  if (text === "") return null;
  if (Hook.safeParse(text).success) return text;
  throw new SluiceError("bad_config", "SLUICE_REPLAY_HOOK_URL is no http or https URL");
}
