/** The name of a region, typed to confirm. Pure. */

/** EU and eu are the same; anything else is another region or a slip. Null when it is right. */
export function typedProblem(typed: string, region: string): string | null {
  const text = typed.trim();
  return text === region || text === region.toUpperCase()
    ? null
    : `Type ${region.toUpperCase()}, the region's name.`;
}
