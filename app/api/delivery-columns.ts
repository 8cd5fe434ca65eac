/** The columns of an exported list of deliveries. Envelopes only: no body, no secret, no path of a URL. */
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import type { ExportColumn } from "./export.ts";

export const DELIVERY_COLUMNS: readonly ExportColumn<DeliveryRow>[] = [
  { name: "id", value: (row) => row.id },
  { name: "tenant", value: (row) => row.tenant.slug },
  { name: "tenant_name", value: (row) => row.tenant.name },
  { name: "destination_id", value: (row) => row.destination.id },
  { name: "destination_name", value: (row) => row.destination.name },
  { name: "destination_host", value: (row) => row.destination.host },
  { name: "event_type", value: (row) => row.eventType },
  { name: "service_class", value: (row) => row.serviceClass },
  { name: "state", value: (row) => row.state },
  { name: "reason", value: (row) => row.reason },
  { name: "held", value: (row) => row.held.map(({ code }) => code).join(" ") },
  { name: "attempts", value: (row) => row.attempts },
  { name: "failures", value: (row) => row.failures },
  { name: "max_failures", value: (row) => row.maxFailures },
  { name: "last_outcome", value: (row) => row.lastOutcome },
  { name: "last_status", value: (row) => row.lastStatus },
  { name: "created_at", value: (row) => row.createdAt },
  { name: "due_at", value: (row) => row.dueAt },
  { name: "finished_at", value: (row) => row.finishedAt },
  { name: "replay_batch", value: (row) => row.replayId },
];
