/**
 * Tells a hook (a chat, a mail gateway, an on-call system) that a replay waits for a second person, went without one, paused by
 * itself or has ended. At least once: the id is the same in every attempt. It must never hold a batch up, and never say what
 * an entry contains.
 */
import type { Pool } from "pg";
import { endReplayNotice, type ReplayNotice, takeReplayNotices } from "#db/queue/replay-notices.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Logger } from "./log.ts";

const TIMEOUT_MS = 5_000;

/** Sends what is due, one after the other. Returns how many were taken by the hook. */
export async function sendReplayNotices(pool: Pool, hook: string, log: Logger): Promise<number> {
  let sent = 0;
  for (const notice of await takeReplayNotices(pool)) {
    const error = await post(hook, notice);
    await endReplayNotice(pool, notice.event_id, error);
    if (error === null) sent += 1;
    else
      log.warn(
        { event: "replay_notice_failed", notice: notice.kind, error },
        "the hook did not take a notice",
      );
  }
  return sent;
}

/** What a hook is sent. Names and states only. */
export function noticeBody(notice: ReplayNotice) {
  return {
    id: notice.event_id,
    kind: notice.kind,
    at: notice.at.toISOString(),
    region: notice.region,
    batch: {
      id: toPublicId("rpl", notice.batch_id),
      name: notice.name,
      state: notice.state,
      requestedBy: notice.requested_by,
    },
    actor: notice.actor,
    detail: notice.detail,
  };
}

/** Null when it was taken; else why not, without the address. */
async function post(hook: string, notice: ReplayNotice): Promise<string | null> {
  try {
    const response = await fetch(hook, {
      method: "POST",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { "content-type": "application/json", "idempotency-key": notice.event_id },
      body: JSON.stringify(noticeBody(notice)),
    });
    // Only the status counts; an answer without end must not be kept.
    await response.body?.cancel();
    return response.ok ? null : `HTTP ${response.status}`;
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string } };
    return cause?.code ?? name ?? "no answer";
  }
}
