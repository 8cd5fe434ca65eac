/** What an application imports. The rest of this folder is ours. */
export { keyFromFacts } from "#domain/idempotency-key.ts";
export { enqueueDeliveries, enqueueDelivery } from "./enqueue-delivery.ts";
export { createHinter, type Hinter, type HinterSettings } from "./hint.ts";
export { outboxStatementName } from "./sql.ts";
export { transactWithOutbox } from "./transact.ts";
export type {
  DeliveryInput,
  EnqueuedDelivery,
  EnqueueOptions,
  EnqueueStatus,
  OutboxTransaction,
} from "./types.ts";
