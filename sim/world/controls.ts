/**
 * What staff do in the middle of a run: pause and resume, other limits, gates opened, drain, disable, replay batches
 * stopped and started, a payload erased. Each is one committed change of rows, as a command makes it; claims take
 * effect at one instant, so the barrier of a command is simply behind it.
 */
import type { SeededRandom } from "#sim/random.ts";
import type { DestinationTableRow, Pausable, Tables, TenantRow } from "#sim/store/tables.ts";

const SECOND = 1_000_000;
/** Staff take back what they did soon enough: a run that holds everything shows nothing. */
const LONGEST_HOLD_US = SECOND / 3;

export interface Staff {
  readonly tables: Tables;
  readonly random: SeededRandom;
  readonly nowUs: () => number;
  readonly later: (afterUs: number, work: () => void) => void;
}

/** One control, chosen by chance. */
export function doSomething(staff: Staff): void {
  const { tables, random } = staff;
  const tenant = random.pick([...tables.tenants.values()]);
  const destination = random.pick([...tables.destinations.values()]);
  const controls: (() => void)[] = [
    () => pause(staff, random.chance(0.5) ? tenant : destination),
    () => resume(staff, tenant),
    () => resume(staff, destination),
    () => changeDestination(staff, destination),
    () => changeTenant(staff, tenant),
    () => openGate(staff, destination),
    () => drain(staff),
    () => switchOff(staff, destination),
    () => stepBatches(staff),
    () => handOver(staff, tenant),
    () => {
      if (random.chance(0.2)) destination.deletedAtUs = staff.nowUs();
    },
  ];
  random.pick(controls)();
}

/** Everything that holds work back is taken away. */
export function letGo({ tables, nowUs }: Staff): void {
  tables.draining = false;
  tables.claimOwner = "sluice";
  for (const tenant of tables.tenants.values()) {
    tenant.claimOwner = "sluice";
    endPause(tenant, nowUs(), 1);
  }
  for (const destination of tables.destinations.values()) {
    enable(destination);
    endPause(destination, nowUs(), 1);
  }
  for (const id of tables.batches.keys()) tables.batches.set(id, "running");
}

function pause({ random, nowUs }: Staff, row: Pausable): void {
  if (row.pausedAtUs !== null) return;
  row.pausedAtUs = nowUs();
  row.pauseUntilUs = nowUs() + random.int(1, LONGEST_HOLD_US);
  row.resumeShare = random.pick([null, 0.5, 1]);
}

function resume({ random, nowUs }: Staff, row: Pausable): void {
  if (row.pausedAtUs !== null) endPause(row, nowUs(), random.pick([null, 0.5, 1]));
}

function endPause(row: Pausable, nowUs: number, share: number | null): void {
  if (row.pausedAtUs !== null) row.resumedAtUs = nowUs;
  Object.assign(row, { pausedAtUs: null, pauseUntilUs: null, resumeShare: share });
}

function changeDestination({ random, nowUs }: Staff, row: DestinationTableRow): void {
  row.concurrencyLimit = random.pick([null, 1, 2, 5]);
  row.ratePerSecond = random.pick([row.ratePerSecond, row.ratePerSecond, null, 5, 50]);
  row.rateBurst = random.pick([row.rateBurst, 1, 3]);
  row.limitsChangedAtUs = nowUs();
  row.version += 1;
}

function changeTenant({ random, nowUs }: Staff, row: TenantRow): void {
  row.concurrencyLimit = random.pick([null, 1, 2, 5]);
  row.weight = random.pick([1, 2, 4]);
  row.limitsChangedAtUs = nowUs();
}

/** Probing stays: the destination is asked with one request. */
function openGate({ tables, nowUs }: Staff, { id }: DestinationTableRow): void {
  const state = tables.states.get(id);
  if (state !== undefined && state.holdUntilUs !== null && state.holdUntilUs > nowUs())
    state.holdUntilUs = nowUs();
}

function switchOff({ random, nowUs, later }: Staff, row: DestinationTableRow): void {
  if (row.disabledAtUs === null) {
    row.disabledAtUs = nowUs();
    row.version += 1;
  }
  later(random.int(1, LONGEST_HOLD_US), () => enable(row));
}

function drain({ tables, random, later }: Staff): void {
  tables.draining = true;
  later(random.int(1, LONGEST_HOLD_US), () => {
    tables.draining = false;
  });
}

/** The tenant goes to another program and comes back. */
function handOver({ random, later }: Staff, tenant: TenantRow): void {
  tenant.claimOwner = "old-sender";
  later(random.int(1, LONGEST_HOLD_US), () => {
    tenant.claimOwner = "sluice";
  });
}

function enable(row: DestinationTableRow): void {
  if (row.disabledAtUs === null) return;
  row.disabledAtUs = null;
  row.version += 1;
}

function stepBatches({ tables, random }: Staff): void {
  for (const id of tables.batches.keys())
    tables.batches.set(id, random.pick(["canary", "canary_hold", "running", "paused"]));
}
