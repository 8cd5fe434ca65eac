/**
 * Numbers of a policy as they are shown, typed and sent. Pure. A number that nobody touched is never sent, so that showing
 * it rounded changes nothing. The bounds are a help for the form; the server decides.
 */
import { formatCount } from "#components/ui/format.ts";
import { formatLength } from "#domain/queue-age.ts";

/** In which a number is typed; stored are milliseconds, shares of 1, factors, counts. */
export type NumberUnit = "s" | "%" | "×" | "count";

export interface NumberSpec {
  readonly label: string;
  readonly unit: NumberUnit;
  /** As stored. */
  readonly min: number;
  readonly max: number;
  /** Only these values, as stored. */
  readonly choices?: readonly number[];
}

export type NumberSpecs<Name extends string> = Readonly<Record<Name, NumberSpec>>;
/** What somebody has typed; absent: not touched, the field follows the row. */
export type Typed<Name extends string> = Readonly<Partial<Record<Name, string>>>;
export type Numbers<Name extends string> = Readonly<Record<Name, number>>;

const FACTORS: Readonly<Record<NumberUnit, number>> = { s: 1_000, "%": 0.01, "×": 1, count: 1 };

export function namesOf<Name extends string>(specs: NumberSpecs<Name>): Name[] {
  return Object.keys(specs) as Name[];
}

/** "2 m", "10 %", "×2", "5": as a table says it. */
export function valueWords(spec: NumberSpec, value: number): string {
  if (spec.unit === "s") return value === 0 ? "none" : formatLength(value);
  if (spec.unit === "%") return `${typedText(spec, value)} %`;
  return spec.unit === "×" ? `×${typedText(spec, value)}` : formatCount(value);
}

/** 120000 -> "120", 0.1 -> "10": as it is typed. */
export function typedText({ unit }: NumberSpec, value: number): string {
  return String(Number((value / FACTORS[unit]).toFixed(3)));
}

/** NaN for what is no number. */
export function typedValue({ unit }: NumberSpec, text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text) * FACTORS[unit];
  return unit === "s" ? Math.round(value) : Number(value.toFixed(6));
}

/** What is wrong with a number as it was typed, or null. */
export function numberProblem(spec: NumberSpec, text: string | undefined): string | null {
  if (text === undefined) return null;
  const value = typedValue(spec, text);
  const { min, max, unit } = spec;
  const fits = Number.isFinite(value) && value >= min && value <= max;
  if (fits && (unit !== "count" || Number.isInteger(value))) return null;
  const bounds = `${typedText(spec, min)} to ${typedText(spec, max)}`;
  return unit === "count" || unit === "×"
    ? `A ${unit === "×" ? "" : "whole "}number from ${bounds}.`
    : `A number from ${bounds} ${unit}.`;
}

export function hasProblem<Name extends string>(specs: NumberSpecs<Name>, typed: Typed<Name>): boolean {
  return namesOf(specs).some((name) => numberProblem(specs[name], typed[name]) !== null);
}

/** What of the typed differs from the row that was seen. Only for a form without problems. */
export function changedNumbers<Name extends string>(
  specs: NumberSpecs<Name>,
  typed: Typed<Name>,
  inForce: Numbers<Name>,
): Partial<Record<Name, number>> {
  const changes: Partial<Record<Name, number>> = {};
  for (const name of namesOf(specs)) {
    const text = typed[name];
    if (text !== undefined && text !== typedText(specs[name], inForce[name])) {
      changes[name] = typedValue(specs[name], text);
    }
  }
  return changes;
}

/** "Target, urgent 15 s → 30 s", for every number that differs. */
export function differences<Name extends string>(
  specs: NumberSpecs<Name>,
  before: Numbers<Name>,
  after: Numbers<Name>,
): string[] {
  return namesOf(specs)
    .filter((name) => before[name] !== after[name])
    .map((name) => {
      const spec = specs[name];
      return `${spec.label} ${valueWords(spec, before[name])} → ${valueWords(spec, after[name])}`;
    });
}

/**
 * What each listed version changed of the one before it; null: the one before it is not listed.
 * @param wholes each version laid over the built-in one, newest first
 */
export function changesByVersion<Whole>(
  versions: readonly { readonly version: number }[],
  wholes: readonly Whole[],
  builtIn: Whole,
  compare: (before: Whole, after: Whole) => string[],
): (string[] | null)[] {
  return versions.map(({ version }, index) => {
    const [after, before] = [wholes[index], version === 1 ? builtIn : wholes[index + 1]];
    return after === undefined || before === undefined ? null : compare(before, after);
  });
}
