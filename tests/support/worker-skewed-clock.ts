/**
 * For `node --import`: makes the machine's clock wrong by SLUICE_TEST_CLOCK_SKEW_MS in the process that loads it.
 * Only the wall clock moves; the monotonic clock and timers stay.
 */
const skewMs = Number(process.env.SLUICE_TEST_CLOCK_SKEW_MS ?? "0");
const RealDate = Date;

class SkewedDate extends RealDate {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(RealDate.now() + skewMs);
    else super(...(parts as [number]));
  }

  static override now(): number {
    return RealDate.now() + skewMs;
  }
}

globalThis.Date = SkewedDate as DateConstructor;
