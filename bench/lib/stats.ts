/** The few numbers that a bench prints. Pure. */

/** The middle value; the mean of the two middle ones for an even count. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** The smallest value that at least `share` of the values do not exceed. NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

/** Jain's index of fairness: 1 when all shares are equal, 1/n when one has everything. NaN for none. */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return (sum * sum) / (shares.length * squares);
}

/** The largest relative distance of a share from its part by weight, 0 when all have exactly theirs. */
export function worstWeightError(shares: readonly number[], weights: readonly number[]): number {
  const all = shares.reduce((total, share) => total + share, 0);
  const weight = weights.reduce((total, each) => total + each, 0);
  return Math.max(
    ...shares.map((share, index) => Math.abs(share / ((all * (weights[index] ?? Number.NaN)) / weight) - 1)),
  );
}
