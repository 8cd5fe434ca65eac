/** What writing a delivery over HTTP answers, in the shape of the outbox. */
import { z } from "zod";
import { REGIONS } from "#domain/region.ts";
import type { EnqueuedDelivery, EnqueueStatus } from "#outbox/index.ts";

const STATUSES = ["created", "duplicate", "mismatch"] as const satisfies readonly EnqueueStatus[];

export const enqueuedDelivery: z.ZodType<EnqueuedDelivery> = z.object({
  deliveryId: z.string().describe("`dlv_...`; of a known key the id that it has had all along."),
  destinationId: z.string(),
  idempotencyKey: z.string().describe("The delivery's own key, as the receiver gets it."),
  status: z
    .enum(STATUSES)
    .describe("`created`: written now. `duplicate`: known with the same body. `mismatch`: with another one."),
});

export const enqueuedAnswer = z.object({
  region: z.enum(REGIONS),
  deliveries: z.array(enqueuedDelivery).describe("In the order of the destinations."),
});
