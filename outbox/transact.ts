/**
 * A business transaction with its hint: runs it through the caller's own Prisma client and, when it has committed
 * and something was enqueued, hints once. It must never hint before the commit or for a rollback.
 */
import { hasWritten } from "./enqueue-delivery.ts";
import type { Hinter } from "./hint.ts";
import type { OutboxTransaction } from "./types.ts";

/** The part of a Prisma client that runs interactive transactions. */
export interface TransactionHost<Tx, Options> {
  $transaction<R>(work: (tx: Tx) => Promise<R>, options?: Options): Promise<R>;
}

/**
 * `prisma.$transaction(work, options)`, then a hint. Enqueue with the very `tx` that `work` is given: a client derived
 * from it is not recognised, and a forgotten hint costs up to 250 ms.
 * @returns what `work` returns; rejects as `$transaction` does
 */
export async function transactWithOutbox<Tx extends OutboxTransaction, R, Options>(
  prisma: TransactionHost<Tx, Options>,
  hinter: Pick<Hinter, "hint">,
  work: (tx: Tx) => Promise<R>,
  options?: Options,
): Promise<R> {
  let used: Tx | undefined;
  const result = await prisma.$transaction((tx) => {
    used = tx;
    return work(tx);
  }, options);
  if (used !== undefined && hasWritten(used)) hinter.hint();
  return result;
}
