/**
 * Which page of a list came before which. A cursor only leads forward, so the way back is what was walked: each page that
 * was entered by "next" with the place of the one before it. Pure; the newest steps are kept, and a page that nobody walked
 * to has none.
 */

/** One step forward in one list. */
export interface PageStep {
  /** The question that the list answers, without its place. */
  readonly list: string;
  /** Where the page begins. */
  readonly cursor: string;
  /** Where the page before it begins; null: at the top. */
  readonly before: string | null;
}

/** Steps of one tab, over all its lists. */
export const MAX_STEPS = 200;
/** A question longer than this is not remembered: a filter is never that long. */
const MAX_LIST_CHARS = 2_000;

/** The trail with one more step, the newest last. */
export function withStep(trail: readonly PageStep[], step: PageStep): PageStep[] {
  if (step.cursor === step.before || step.list.length > MAX_LIST_CHARS) return [...trail];
  const others = trail.filter(({ list, cursor }) => list !== step.list || cursor !== step.cursor);
  return [...others, step].slice(-MAX_STEPS);
}

/** Where the page before begins: null for the top of the list, undefined when nobody walked to this page. */
export function stepBefore(
  trail: readonly PageStep[],
  list: string,
  cursor: string,
): string | null | undefined {
  return trail.findLast((step) => step.list === list && step.cursor === cursor)?.before;
}

/** What was stored, without what means nothing. */
export function readTrail(text: string | null): PageStep[] {
  if (text === null) return [];
  try {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored) ? stored.filter(isStep).slice(-MAX_STEPS) : [];
  } catch {
    return [];
  }
}

function isStep(value: unknown): value is PageStep {
  if (typeof value !== "object" || value === null) return false;
  const { list, cursor, before } = value as Partial<PageStep>;
  return (
    typeof list === "string" && typeof cursor === "string" && (before === null || typeof before === "string")
  );
}
