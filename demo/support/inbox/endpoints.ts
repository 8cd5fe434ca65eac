/**
 * Which endpoints there are and with which secrets their requests are signed. A customer keeps the secrets that were shown
 * to a person; the demo opens the sender's own rows in that person's place. An opened secret is kept for seconds, in memory.
 */
import type { KeyObject } from "node:crypto";
import type { Pool } from "pg";
import { type Keyring, openSecret } from "#db/secrets.ts";
import { fromPublicId } from "#domain/ids.ts";
import { isRegion, type Region } from "#domain/region.ts";
import { prepareSecret } from "#domain/signature.ts";
import { LIVE_SECRETS } from "./sql.ts";

export interface InboxEndpoint {
  readonly region: Region;
  /** The sender's destination, a UUID. */
  readonly id: string;
  /** The tenant that it belongs to, a UUID. */
  readonly tenantId: string;
  /** One, or two during a rotation; the previous one counts until its end. */
  readonly secrets: readonly { readonly key: KeyObject; readonly untilMs: number | null }[];
}

/** The path of a request: `/demo/support/<region>/<dst_...>`. */
export interface EndpointAddress {
  readonly region: string;
  readonly endpoint: string;
}

export interface EndpointBook {
  /** Null when there is no such endpoint. @throws what the database throws */
  find(address: EndpointAddress): Promise<InboxEndpoint | null>;
}

interface SecretRow {
  tenant_id: string;
  secret_current: Buffer;
  secret_previous: Buffer | null;
  previous_until_ms: string | null;
}

const KEEP_MS = 2_000;
const MAX_KEPT = 1_000;

/** @param poolOf the customer's pool of a region */
export function createEndpointBook(
  poolOf: (region: Region) => Pool,
  keyring: Keyring,
  monotonicMs: () => number,
): EndpointBook {
  const kept = new Map<string, { endpoint: InboxEndpoint; untilMs: number }>();
  return {
    async find(address) {
      const place = placeOf(address);
      if (place === null) return null;
      const name = `${place.region} ${place.id}`;
      const known = kept.get(name);
      if (known !== undefined && monotonicMs() < known.untilMs) return known.endpoint;
      const endpoint = await readEndpoint(poolOf(place.region), keyring, place);
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.delete(name);
      if (endpoint !== null) kept.set(name, { endpoint, untilMs: monotonicMs() + KEEP_MS });
      return endpoint;
    },
  };
}

async function readEndpoint(
  pool: Pool,
  keyring: Keyring,
  place: { region: Region; id: string },
): Promise<InboxEndpoint | null> {
  const { rows } = await pool.query<SecretRow>(LIVE_SECRETS, [place.id, place.region]);
  const row = rows[0];
  if (row === undefined) return null;
  const open = (sealed: Buffer) => prepareSecret(openSecret(keyring, sealed));
  const secrets = [{ key: open(row.secret_current), untilMs: null as number | null }];
  if (row.secret_previous !== null) {
    secrets.push({ key: open(row.secret_previous), untilMs: Number(row.previous_until_ms) });
  }
  return { ...place, tenantId: row.tenant_id, secrets };
}

function placeOf({ region, endpoint }: EndpointAddress): { region: Region; id: string } | null {
  if (!isRegion(region)) return null;
  try {
    return { region, id: fromPublicId("dst", endpoint) };
  } catch {
    return null;
  }
}
