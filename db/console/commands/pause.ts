/**
 * What pausing a tenant and pausing a destination have in common. The claim looks at these columns in every call, so a
 * pause is never memory: it survives restarts and holds for workers that start later.
 */
import type { PoolClient } from "pg";
import { isTooLongForRole, type PauseEnd, pauseEndMs, refusePauseEnd } from "#domain/commands-pause.ts";
import { SluiceError } from "#domain/errors.ts";
import { type ControlRow, isoOf, isPaused, stateConflict } from "./locked-row.ts";
import { type Changed, type CommandContext, type Facts, Refusal } from "./run-command.ts";

type Table = "tenant" | "destination";

/** Sets or moves the end of a pause. A pause that goes on keeps its beginning and takes the new reason. */
export async function writePause(
  client: PoolClient,
  context: CommandContext,
  table: Table,
  row: ControlRow,
  asked: { readonly end: PauseEnd; readonly reason: string },
  nowMs: number,
): Promise<Changed> {
  const before = pauseFacts(row);
  const endMs = pauseEndMs(asked.end, nowMs);
  const refused = refusePauseEnd(endMs, nowMs, context.role);
  if (refused !== null) {
    if (isTooLongForRole(endMs, nowMs, context.role)) {
      throw new Refusal("denied", new SluiceError("forbidden", refused), before);
    }
    throw new SluiceError("bad_pause", refused);
  }
  const { rows } = await client.query<ControlRow>(
    `UPDATE sluice.${table}
        SET paused_at = CASE WHEN $3 THEN paused_at ELSE clock_timestamp() END, pause_until = to_timestamp($4::float8 / 1000),
            pause_reason = $5, paused_by = $6, resumed_at = NULL, resume_share = NULL, version = version + 1
      WHERE id = $1 AND version = $2
      RETURNING version, (extract(epoch FROM paused_at) * 1000)::float8 AS paused_ms, pause_reason, paused_by,
                (extract(epoch FROM pause_until) * 1000)::float8 AS pause_until_ms`,
    [row.id, row.version, isPaused(row, nowMs), endMs, asked.reason, context.actor],
  );
  const after = oneRow(rows);
  return { tenantId: row.tenant_id, version: after.version, before, after: pauseFacts(after) };
}

/**
 * Ends a pause. Work that was due before now begins with `share` of cap and rate, doubled each minute; later work
 * passes freely. A pause whose end has come already ramps from that end on.
 */
export async function writeResume(
  client: PoolClient,
  table: Table,
  row: ControlRow,
  share: number,
): Promise<Changed> {
  const before = pauseFacts(row);
  if (row.paused_ms === null) throw stateConflict(`the ${table} is not paused`, before);
  const { rows } = await client.query<{ version: number; resumed_ms: number; share: number }>(
    `UPDATE sluice.${table}
        SET paused_at = NULL, pause_until = NULL, pause_reason = NULL, paused_by = NULL,
            resumed_at = least(clock_timestamp(), pause_until), resume_share = $3, version = version + 1
      WHERE id = $1 AND version = $2
      RETURNING version, (extract(epoch FROM resumed_at) * 1000)::float8 AS resumed_ms, resume_share::float8 AS share`,
    [row.id, row.version, share],
  );
  const after = oneRow(rows);
  return {
    tenantId: row.tenant_id,
    version: after.version,
    before,
    after: { paused: false, resumedAt: isoOf(after.resumed_ms), resumeShare: after.share },
  };
}

/** The row was locked and compared before, so the conditional UPDATE always finds it. */
export function oneRow<Row>(rows: readonly Row[]): Row {
  const row = rows[0];
  if (row === undefined) throw new Error("a locked row was not updated");
  return row;
}

function pauseFacts(
  row: Pick<ControlRow, "paused_ms" | "pause_until_ms" | "pause_reason" | "paused_by">,
): Facts {
  if (row.paused_ms === null) return { paused: false };
  return {
    paused: true,
    pausedAt: isoOf(row.paused_ms),
    pauseUntil: isoOf(row.pause_until_ms),
    pauseReason: row.pause_reason,
    pausedBy: row.paused_by,
  };
}
