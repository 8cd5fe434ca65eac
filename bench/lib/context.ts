/** Opens what most scenarios need, in order, and closes it in the reverse order whatever happens in between. */
import type { Agent } from "undici";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { createHttpClient } from "#worker/exchange.ts";
import type { BenchOptions } from "../config.ts";
import type { SendContext } from "../contenders/send.ts";
import { closeAll, closeLater } from "./cleanup.ts";
import { type BenchDatabase, openBenchDatabase } from "./database.ts";
import { openReceiver, type ReceiverProcess, tellSecrets } from "./receiver.ts";

const CONNECT_TIMEOUT_MS = 10_000;

export interface Bench {
  readonly receiver: ReceiverProcess;
  readonly database: BenchDatabase;
  /** Closes something at the end, the last one first. */
  defer(close: () => Promise<unknown>): void;
}

/** @param records request records that the receiver keeps */
export async function withBench<T>(records: number, work: (bench: Bench) => Promise<T>): Promise<T> {
  try {
    const receiver = await openReceiver(records);
    closeLater(() => receiver.stop());
    const database = await openBenchDatabase();
    closeLater(() => database.close());
    return await work({ receiver, database, defer: closeLater });
  } finally {
    await closeAll();
  }
}

/** What a contender sends with: a client of its own for all of them, and a receiver that checks their signatures. */
export async function sendContext(bench: Bench, options: BenchOptions): Promise<SendContext> {
  const client: Agent = createHttpClient(CONNECT_TIMEOUT_MS, { rules: LOCAL_SENDING_RULES });
  bench.defer(() => client.close());
  await tellSecrets(
    bench.receiver,
    Array.from({ length: options.destinations }, (_, index) => `d${index + 1}`),
  );
  return {
    client,
    receiverUrl: bench.receiver.url,
    destinations: options.destinations,
    body: jsonBody(options.bodyBytes),
  };
}

/** A JSON text of the given length, at least its frame. */
export function jsonBody(bytes: number): Buffer {
  const frame = '{"data":""}';
  return Buffer.from(`{"data":"${"x".repeat(Math.max(0, bytes - frame.length))}"}`);
}
