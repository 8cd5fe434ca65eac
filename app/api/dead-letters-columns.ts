/** The columns of exported dead letters and of the exported audit. Envelopes and words only: no body, no secret, no path of a URL. */
import type { AuditRow } from "#db/console/list-audit.ts";
import type { DeadLetterGroupRow } from "#db/console/list-dead-letter-groups.ts";
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { ExportColumn } from "./export.ts";

export const DEAD_LETTER_COLUMNS: readonly ExportColumn<DeadLetterRow>[] = [
  { name: "id", value: (row) => row.id },
  { name: "group", value: (row) => row.groupId },
  { name: "tenant", value: (row) => row.tenant.slug },
  { name: "tenant_name", value: (row) => row.tenant.name },
  { name: "destination_id", value: (row) => row.destination.id },
  { name: "destination_name", value: (row) => row.destination.name },
  { name: "destination_host", value: (row) => row.destination.host },
  { name: "event_type", value: (row) => row.eventType },
  { name: "service_class", value: (row) => row.serviceClass },
  { name: "class", value: (row) => row.reasonClass },
  { name: "reason", value: (row) => row.reason },
  { name: "last_outcome", value: (row) => row.lastOutcome },
  { name: "last_status", value: (row) => row.lastStatus },
  { name: "last_detail", value: (row) => row.lastDetail },
  { name: "attempts", value: (row) => row.attempts },
  { name: "failures", value: (row) => row.failures },
  { name: "throttles", value: (row) => row.throttles },
  { name: "replays", value: (row) => row.replays },
  { name: "created_at", value: (row) => row.createdAt },
  { name: "first_failure_at", value: (row) => row.firstFailureAt },
  { name: "died_at", value: (row) => row.diedAt },
  { name: "payload", value: (row) => row.payload },
  { name: "will_not_replay", value: (row) => row.willNotReplay },
  { name: "will_not_replay_reason", value: (row) => row.willNotReplayReason },
];

export const GROUP_COLUMNS: readonly ExportColumn<DeadLetterGroupRow>[] = [
  { name: "id", value: (row) => row.id },
  { name: "class", value: (row) => row.reasonClass },
  { name: "reason", value: (row) => row.reason },
  { name: "last_outcome", value: (row) => row.lastOutcome },
  { name: "last_status", value: (row) => row.lastStatus },
  { name: "error_code", value: (row) => row.errorCode },
  { name: "destination_id", value: (row) => row.destination.id },
  { name: "destination_name", value: (row) => row.destination.name },
  { name: "destination_host", value: (row) => row.destination.host },
  { name: "destinations", value: (row) => row.destinations },
  { name: "tenant", value: (row) => row.tenant.slug },
  { name: "tenants", value: (row) => row.tenants },
  { name: "entries", value: (row) => row.count },
  { name: "entries_more", value: (row) => row.more },
  { name: "will_not_replay", value: (row) => row.willNotReplay },
  { name: "first_seen_at", value: (row) => row.firstSeenAt },
  { name: "last_seen_at", value: (row) => row.lastSeenAt },
  { name: "status", value: (row) => row.state },
  { name: "status_by", value: (row) => row.stateBy },
  { name: "status_at", value: (row) => row.stateAt },
  { name: "assignee", value: (row) => row.assignee },
];

export const AUDIT_COLUMNS: readonly ExportColumn<AuditRow>[] = [
  { name: "id", value: (row) => row.id },
  { name: "at", value: (row) => row.at },
  { name: "actor", value: (row) => row.actor },
  { name: "role", value: (row) => row.role },
  { name: "action", value: (row) => row.action },
  { name: "target_kind", value: (row) => row.targetKind },
  { name: "target", value: (row) => row.target },
  { name: "region", value: (row) => row.region },
  { name: "tenant", value: (row) => row.tenant?.slug },
  { name: "reason", value: (row) => row.reason },
  { name: "ticket", value: (row) => row.ticket },
  { name: "result", value: (row) => row.result },
  { name: "correlation_id", value: (row) => row.correlationId },
  { name: "before", value: (row) => (row.before === null ? null : JSON.stringify(row.before)) },
  { name: "after", value: (row) => (row.after === null ? null : JSON.stringify(row.after)) },
];
