/** The receiver of a run, in a process of its own, and what must be true of it before a number counts. */
import { type ReceiverProcess, spawnReceiver } from "#demo/receiver/spawn.ts";
import { BENCH_SECRET } from "./sql.ts";

export type { ReceiverProcess } from "#demo/receiver/spawn.ts";

const KEYS = 4_000_000;
const SECRETS_AT_ONCE = 32;

export interface Seen {
  readonly requests: number;
  readonly effects: number;
  readonly validSignatures: number;
}

/** Starts it without records, which cost it time; `records` keeps that many. */
export function openReceiver(records = 0): Promise<ReceiverProcess> {
  return spawnReceiver(["--records", String(records), "--no-hash", "--keys", String(KEYS)]);
}

/** From now on it checks each signature of these destinations, as a real one has to. */
export async function tellSecrets(receiver: ReceiverProcess, names: readonly string[]): Promise<void> {
  for (let from = 0; from < names.length; from += SECRETS_AT_ONCE) {
    await Promise.all(
      names
        .slice(from, from + SECRETS_AT_ONCE)
        .map((name) => receiver.client.setSecret(name, { secrets: [BENCH_SECRET] })),
    );
  }
}

export async function readSeen(receiver: ReceiverProcess): Promise<Seen> {
  const { requests, effects, validSignatures } = await receiver.client.totals();
  return { requests, effects, validSignatures };
}

/** @throws Error when a delivery was lost, doubled or badly signed between the two: such a round has no number */
export function checkExactlyOnce(deliveries: number, before: Seen, after: Seen): void {
  for (const what of ["requests", "effects", "validSignatures"] as const) {
    const count = after[what] - before[what];
    if (count !== deliveries) {
      throw new Error(`the receiver saw ${count} ${what} for ${deliveries} deliveries`);
    }
  }
}

/** Milliseconds of CPU that the receiver's process has used. */
export async function receiverCpuMs(receiver: ReceiverProcess): Promise<number> {
  return (await receiver.client.health()).cpuMs;
}
