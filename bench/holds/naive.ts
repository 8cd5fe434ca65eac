/**
 * The sender that the holds are held against: every key at once, and each one that is throttled again after exactly one
 * second, without jitter and without a thought for its siblings.
 */
import { randomBytes } from "node:crypto";
import type { Agent } from "undici";
import { uuidV7 } from "#domain/ids.ts";
import type { ReceiverProcess } from "../lib/receiver.ts";
import { sleep } from "../lib/wait.ts";

const RETRY_MS = 1_000;
const MAX_TRIES = 100;

export interface NaiveSettings {
  readonly client: Agent;
  readonly receiver: ReceiverProcess;
  /** Path of its destinations, each with a number behind it. */
  readonly path: string;
  readonly destinations: number;
  readonly keysEach: number;
  readonly body: Buffer;
  readonly headersOf: (id: string, body: Buffer) => string[];
}

/** @throws Error when a key was never taken or was taken twice */
export async function naiveRequestsPerKey(settings: NaiveSettings): Promise<number> {
  const { receiver, destinations, keysEach, path } = settings;
  const keys = destinations * keysEach;
  const before = await receiver.client.totals();
  await Promise.all(
    Array.from({ length: keys }, (_, index) => untilTaken(settings, `${path}-${index % destinations}`)),
  );
  const after = await receiver.client.totals();
  if (after.effects - before.effects !== keys) {
    throw new Error(`${after.effects - before.effects} effects for ${keys} keys of the fixed retry`);
  }
  return (after.requests - before.requests) / keys;
}

async function untilTaken(settings: NaiveSettings, path: string): Promise<void> {
  const id = uuidV7(Date.now(), randomBytes);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { statusCode, body } = await settings.client.request({
      origin: settings.receiver.url,
      path,
      method: "POST",
      headers: settings.headersOf(id, settings.body),
      body: settings.body,
    });
    await body.dump();
    if (statusCode === 200) return;
    await sleep(RETRY_MS);
  }
  throw new Error(`the fixed retry gave up after ${MAX_TRIES} tries`);
}
