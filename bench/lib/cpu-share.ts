/** Which part of a core something spends over a while. It must never be asked for while anything but the measured thing runs. */
import { sleep } from "./wait.ts";

/** @throws Error where the system does not tell */
export async function shareOver(readMs: () => number | null, seconds: number): Promise<number> {
  const before = readMs();
  const begunAt = performance.now();
  await sleep(seconds * 1_000);
  const after = readMs();
  if (before === null || after === null) throw new Error("CPU times of processes can be read on Linux only");
  return (after - before) / (performance.now() - begunAt);
}
