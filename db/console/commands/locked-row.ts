/**
 * The row that a command is about, locked and compared with the version that the caller saw. The lock leaves foreign
 * keys alone (new destinations of a tenant go on), and no claim ever waits for it.
 */
import type { PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { type Facts, Refusal } from "./run-command.ts";

/** Columns that controls read and write. Times in milliseconds of the database's clock. */
export interface ControlRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly version: number;
  readonly paused_ms: number | null;
  readonly pause_until_ms: number | null;
  readonly pause_reason: string | null;
  readonly paused_by: string | null;
  readonly concurrency_limit: number | null;
}

export interface TenantRow extends ControlRow {
  readonly weight: number;
}

export interface DestinationRow extends ControlRow {
  readonly rate_per_second: number | null;
  readonly rate_burst: number;
  readonly disabled_ms: number | null;
  readonly disabled_reason: string | null;
  readonly disabled_by: string | null;
}

const SHARED = `version, (extract(epoch FROM paused_at) * 1000)::float8 AS paused_ms, pause_reason, paused_by,
  (extract(epoch FROM pause_until) * 1000)::float8 AS pause_until_ms, concurrency_limit`;

/** @throws Refusal `not_found`, or `version_conflict` when the row has another version than `seen` */
export async function lockTenant(client: PoolClient, publicId: string, seen: number): Promise<TenantRow> {
  const { rows } = await client.query<TenantRow>(
    `SELECT id, id AS tenant_id, weight, ${SHARED} FROM sluice.tenant WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [fromPublicId("ten", publicId)],
  );
  return checked(rows[0], publicId, seen);
}

/** @throws Refusal as `lockTenant` */
export async function lockDestination(
  client: PoolClient,
  publicId: string,
  seen: number,
): Promise<DestinationRow> {
  const { rows } = await client.query<DestinationRow>(
    `SELECT id, tenant_id, rate_per_second::float8 AS rate_per_second, rate_burst,
            (extract(epoch FROM disabled_at) * 1000)::float8 AS disabled_ms, disabled_reason, disabled_by, ${SHARED}
       FROM sluice.destination WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [fromPublicId("dst", publicId)],
  );
  return checked(rows[0], publicId, seen);
}

/** What rows without a limit of their own inherit. */
export async function readDefaults(
  client: PoolClient,
): Promise<{ readonly tenant: number; readonly destination: number }> {
  const { rows } = await client.query<{ tenant: number; destination: number }>(
    `SELECT default_tenant_concurrency AS tenant, default_destination_concurrency AS destination FROM sluice.region_control`,
  );
  if (rows[0] === undefined) throw new Error("the region has no control row");
  return rows[0];
}

function checked<Row extends ControlRow>(row: Row | undefined, publicId: string, seen: number): Row {
  if (row === undefined) {
    throw new Refusal("conflict", new SluiceError("not_found", `${publicId} does not exist in this region`));
  }
  if (row.version !== seen) throw versionConflict(publicId, seen, row.version, { version: row.version });
  return row;
}

export function versionConflict(target: string, seen: number, current: number, before: Facts): Refusal {
  const detail = `${target} was changed by someone else: version ${seen} was seen, it is ${current} now`;
  return new Refusal("conflict", new SluiceError("version_conflict", detail, { seen, current }), before);
}

export function stateConflict(detail: string, before: Facts = {}): Refusal {
  return new Refusal("conflict", new SluiceError("state_conflict", detail), before);
}

/** True while a pause holds; one whose end has come holds nothing, even before a worker has ended it. */
export function isPaused(row: ControlRow, nowMs: number): boolean {
  return row.pause_until_ms !== null && row.pause_until_ms > nowMs;
}

export function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
