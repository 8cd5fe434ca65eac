/**
 * The bounds that the forms of a batch show before they send. The schemas of #domain/commands-replay and
 * #domain/replay-plan decide; these repeat them without the validator. replay-bounds.test.ts holds both together. Pure.
 */
export const NAME_MAX_CHARS = 120;
export const WORDS_MIN_CHARS = 3;
export const WORDS_MAX_CHARS = 1_000;
export const MIN_RATE = 0.1;
export const MAX_RATE = 50;
export const MAX_CONCURRENCY = 50;
export const MAX_BUDGET = 3;
/** Sampled entries that the author opens before the freeze, or all of them. */
export const MIN_OPENED = 10;

export function refuseName(name: string): string | null {
  const chars = name.trim().length;
  if (chars === 0) return "Name the batch, so that the second person knows what it is about.";
  return chars > NAME_MAX_CHARS ? `At most ${NAME_MAX_CHARS} characters.` : null;
}

/** What is wrong with a cause or a piece of evidence, or null. */
export function refuseEvidence(text: string): string | null {
  const chars = text.trim().length;
  if (chars < WORDS_MIN_CHARS) return `Say it in at least ${WORDS_MIN_CHARS} characters.`;
  return chars > WORDS_MAX_CHARS ? `At most ${WORDS_MAX_CHARS} characters.` : null;
}

/** What is wrong with a number as it was typed, or null. An empty one is refused too: nothing is ever guessed. */
export function refuseNumber(
  text: string,
  { min, max, whole }: { min: number; max: number; whole: boolean },
): string | null {
  const value = Number(text);
  const fits = text.trim() !== "" && Number.isFinite(value) && value >= min && value <= max;
  if (fits && (!whole || Number.isInteger(value))) return null;
  return `${whole ? "A whole number" : "A number"} from ${min} to ${max}.`;
}
