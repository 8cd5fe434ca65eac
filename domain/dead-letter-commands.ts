/**
 * What may be asked for of a cause of dead letters. Pure. There is no command here that removes a dead letter or sends one.
 */
import { z } from "zod";
import { ACTOR_MAX_CHARS, ChangeFields, publicId } from "./commands.ts";
import { NOTE_MAX_CHARS } from "./dead-letter-group.ts";
import { moment } from "./moment.ts";

/** Acknowledge, resolve, reopen: nothing but which cause and why. */
export const GroupCommand = z.strictObject({ groupId: publicId("dlg"), ...ChangeFields });
export type GroupCommand = z.infer<typeof GroupCommand>;

/** Who looks after it; null takes the name away. */
export const AssignGroup = z.strictObject({
  groupId: publicId("dlg"),
  ...ChangeFields,
  assignee: z
    .string({ error: "a name or an e-mail address, or null for nobody" })
    .trim()
    .min(1)
    .max(ACTOR_MAX_CHARS)
    .nullable(),
});
export type AssignGroup = z.infer<typeof AssignGroup>;

/** What the next person should know; null takes it away. */
export const NoteGroup = z.strictObject({
  groupId: publicId("dlg"),
  ...ChangeFields,
  note: z.string({ error: "a text, or null for none" }).trim().min(1).max(NOTE_MAX_CHARS).nullable(),
});
export type NoteGroup = z.infer<typeof NoteGroup>;

/**
 * Says of the entries of a cause that they will not be sent again. `until` is the time of the count that the person saw:
 * an entry that died later is not among them.
 */
export const WillNotReplayGroup = z.strictObject({
  groupId: publicId("dlg"),
  ...ChangeFields,
  until: moment(),
});
export type WillNotReplayGroup = z.infer<typeof WillNotReplayGroup>;
