/** What staff change in the middle of a script, on both sides. */
import type { Pausable } from "#sim/store/tables.ts";
import type { Places } from "./places.ts";
import {
  deleteJobs,
  erasePayload,
  openGate,
  pinLimit,
  writeBatch,
  writeDestination,
  writeRegion,
  writeTenant,
} from "./sql.ts";
import type { Twin } from "./twin.ts";

const SECOND = 1_000_000;
const SHARES = [null, 0.05, 0.29, 0.5, 1];

export async function change(twin: Twin, places: Places): Promise<void> {
  twin.history.push("a control");
  await twin.random.pick([
    changeTenant,
    changeDestination,
    changeDestination,
    changeRegion,
    changeBatch,
    changeState,
    changeData,
  ])(twin, places);
}

async function changeTenant(twin: Twin): Promise<void> {
  const { random, tables, nowUs, pool } = twin;
  const row = random.pick([...tables.tenants.values()]);
  pauseOrResume(twin, row);
  if (random.chance(0.4)) {
    const before = JSON.stringify([row.weight, row.concurrencyLimit]);
    row.weight = random.int(1, 5);
    row.concurrencyLimit = random.pick([null, 1, 4, 12]);
    if (JSON.stringify([row.weight, row.concurrencyLimit]) !== before) row.limitsChangedAtUs = nowUs;
  }
  if (random.chance(0.15)) row.claimOwner = row.claimOwner === "sluice" ? "another" : "sluice";
  if (random.chance(0.05)) row.deletedAtUs = row.deletedAtUs === null ? nowUs : null;
  await writeTenant(pool, row);
}

async function changeDestination(twin: Twin): Promise<void> {
  const { random, tables, nowUs, pool } = twin;
  const row = random.pick([...tables.destinations.values()]);
  pauseOrResume(twin, row);
  if (random.chance(0.5)) {
    const before = JSON.stringify([row.concurrencyLimit, row.ratePerSecond, row.rateBurst]);
    row.concurrencyLimit = random.pick([null, 1, 5, 40]);
    row.ratePerSecond = random.pick([row.ratePerSecond, null, 0.5, 20]);
    row.rateBurst = random.pick([row.rateBurst, 1, 4]);
    if (JSON.stringify([row.concurrencyLimit, row.ratePerSecond, row.rateBurst]) !== before)
      row.limitsChangedAtUs = nowUs;
  }
  if (random.chance(0.2)) row.disabledAtUs = row.disabledAtUs === null ? nowUs : null;
  if (random.chance(0.08)) row.deletedAtUs = row.deletedAtUs === null ? nowUs : null;
  row.version += 1;
  await writeDestination(pool, row);
}

function pauseOrResume({ random, nowUs }: Twin, row: Pausable): void {
  if (row.pausedAtUs === null && random.chance(0.3)) {
    Object.assign(row, {
      pausedAtUs: nowUs,
      pauseUntilUs: nowUs + random.int(1, 8 * SECOND),
      resumeShare: random.pick(SHARES),
    });
  } else if (row.pausedAtUs !== null && random.chance(0.7)) {
    Object.assign(row, {
      pausedAtUs: null,
      pauseUntilUs: null,
      resumedAtUs: nowUs,
      resumeShare: random.pick(SHARES),
    });
  }
}

async function changeRegion({ random, tables, pool }: Twin): Promise<void> {
  tables.draining = random.chance(0.2);
  tables.claimOwner = random.chance(0.1) ? "another" : "sluice";
  await writeRegion(pool, tables.draining, tables.claimOwner);
}

async function changeBatch({ random, tables, pool }: Twin, { batchId }: Places): Promise<void> {
  const state = random.pick(["canary", "canary_hold", "running", "paused"]);
  tables.batches.set(batchId, state);
  await writeBatch(pool, batchId, state);
}

async function changeState({ random, tables, pool, nowUs }: Twin): Promise<void> {
  const [id, state] = random.pick([...tables.states, [null, null] as const]);
  if (id === null) return;
  if (random.chance(0.6)) {
    if (state.holdUntilUs === null) return;
    state.holdUntilUs = nowUs;
    await openGate(pool, id);
  } else {
    const limit = random.pick([null, 2]);
    Object.assign(state, { adaptivePinned: limit !== null, adaptiveLimit: limit });
    await pinLimit(pool, id, limit);
  }
}

async function changeData({ random, tables, pool }: Twin): Promise<void> {
  if (random.chance(0.5)) {
    tables.wakeJob = null;
    await deleteJobs(pool);
    return;
  }
  const ids = [...tables.payloads.keys()];
  if (ids.length === 0) return;
  const id = random.pick(ids);
  Object.assign(tables.payloads.get(id) ?? {}, { body: null });
  await erasePayload(pool, id);
}
