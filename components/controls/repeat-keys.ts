/**
 * The Idempotency-Key of a form: the same while the same values are sent again after an answer that never came, and a new
 * one after any change or any certain end. Pure but for the maker of keys that is passed in.
 */
import { ProblemError } from "#components/queries/fetch-json.ts";

export interface RepeatKeys {
  /** @param values everything that makes the request what it is, as text */
  keyFor: (values: string) => string;
  /** The request has come to a certain end: the next one is a new one, also with the same values. */
  settle: () => void;
}

export function createRepeatKeys(newKey: () => string): RepeatKeys {
  let last: { readonly values: string; readonly key: string } | null = null;
  return {
    keyFor(values) {
      if (last?.values !== values) last = { values, key: newKey() };
      return last.key;
    },
    settle() {
      last = null;
    },
  };
}

const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

/** True when the API has said no for good: nothing was changed. Anything else may have happened. */
export function isDefinite(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return false;
  const { status } = error.problem;
  return status >= 400 && status < 500 && status !== REQUEST_TIMEOUT && status !== TOO_MANY_REQUESTS;
}
