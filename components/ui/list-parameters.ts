/**
 * The address parameters that all row lists share, each with the test of its value. A value that fails is not sent to the
 * API, which would refuse it, but shown as dropped.
 */
import { REGIONS } from "#domain/region.ts";

const TENANT = /^(?:ten_[0-9a-f]{32}|[a-z0-9][a-z0-9-]{0,62})$/;
const DESTINATION = /^dst_[0-9a-f]{32}$/;
const CURSOR = /^[A-Za-z0-9_-]{1,300}$/;

/** Says whether a value means something to the page. */
export type ParameterTests = Readonly<Record<string, (value: string) => boolean>>;

/** A test for one of a few values. */
export function oneOf(values: readonly string[]): (value: string) => boolean {
  return (value) => values.includes(value);
}

export const SHARED_PARAMETERS = {
  region: oneOf(REGIONS),
  tenant: (value: string) => TENANT.test(value),
  destination: (value: string) => DESTINATION.test(value),
  cursor: (value: string) => CURSOR.test(value),
};

/** The parameters of an address that mean something, without the others. */
export function usableOnly(
  query: Readonly<Record<string, string | null>>,
  tests: ParameterTests,
): Record<string, string> {
  const usable: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && tests[name]?.(value)) usable[name] = value;
  }
  return usable;
}
