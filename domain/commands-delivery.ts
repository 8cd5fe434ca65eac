/**
 * What may be asked for of a single delivery. Pure. There is no command that sends a dead letter again by itself: that
 * needs a reviewed batch, and none that removes one.
 */
import { z } from "zod";
import { ChangeFields, publicId } from "./commands.ts";

/**
 * Retry now, cancel. A delivery that still lives has no version: its state is the guard, and it is the same delivery,
 * with the same id and key, whatever happens to it.
 */
export const DeliveryCommand = z.strictObject({
  deliveryId: publicId("dlv"),
  reason: ChangeFields.reason,
  ticket: ChangeFields.ticket,
});
export type DeliveryCommand = z.infer<typeof DeliveryCommand>;

/** Marks a dead letter as one that will not be sent again. */
export const WillNotReplay = z.strictObject({ deliveryId: publicId("dlv"), ...ChangeFields });
export type WillNotReplay = z.infer<typeof WillNotReplay>;
