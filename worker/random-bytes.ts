/** Random bytes for ids, drawn from the system in larger pieces: one call for each id costs more than the id. */
import { randomFillSync } from "node:crypto";

const PIECE_BYTES = 8_192;

/** Returns a function that gives `count` fresh bytes; none is ever given twice. `count` is at most 64. */
export function createRandomBytes(): (count: number) => Uint8Array {
  let piece = new Uint8Array(0);
  let used = 0;
  return (count) => {
    if (count > 64) throw new RangeError(`${count} random bytes are more than an id needs`);
    if (used + count > piece.length) {
      piece = randomFillSync(new Uint8Array(PIECE_BYTES));
      used = 0;
    }
    used += count;
    return piece.subarray(used - count, used);
  };
}
