/** Signing secrets of destinations, as changes to them are asked for. Pure; no secret ever stands in a command. */
import { z } from "zod";
import { ChangeFields, DestinationCommand, publicId } from "./commands.ts";

const DAY_MS = 86_400_000;
/** How long the old secret goes on signing unless the caller says otherwise: time for a receiver to be changed. */
export const DEFAULT_KEEP_MS = DAY_MS;
export const MIN_KEEP_MS = 60_000;
export const MAX_KEEP_MS = 30 * DAY_MS;

/**
 * Which old secret signs beside the new one, for `keepMs` from now. `current`: the one in force, as usual. `previous`:
 * the one before it, and the current one goes, because it never reached the receiver (an answer that was lost).
 * `none`: neither, at once, because a secret has leaked.
 */
export const KEPT_SECRETS = ["current", "previous", "none"] as const;

/** A new secret. */
export const RotateSecret = z.strictObject({
  destinationId: publicId("dst"),
  ...ChangeFields,
  keep: z.enum(KEPT_SECRETS).default("current"),
  keepMs: z.int().min(MIN_KEEP_MS).max(MAX_KEEP_MS).default(DEFAULT_KEEP_MS),
});
export type RotateSecret = z.input<typeof RotateSecret>;

/** Ends the previous secret before its time. */
export const EndPreviousSecret = DestinationCommand;
export type EndPreviousSecret = z.infer<typeof EndPreviousSecret>;

/** Seals all secrets of a region anew under the current key of the keyring. It changes no secret. */
export const RekeySecrets = z.strictObject({ reason: ChangeFields.reason, ticket: ChangeFields.ticket });
export type RekeySecrets = z.infer<typeof RekeySecrets>;
