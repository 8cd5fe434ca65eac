/**
 * Which letters stand at the top of a chart for what people did. A letter is a reference to the list below the charts and can
 * be taken for no count. Marks whose letters would cover each other become one: "B–D". Pure.
 */

/** Widths of what is drawn at 12 px, on the large side. */
const LETTER_PX = 9;
const GAP_PX = 6;
const LETTERS = 26;

/** What was done at one moment, or so near to each other that one mark stands for all of it. */
export interface Mark {
  /** "A", or "B–D" for the second to the fourth. */
  label: string;
  /** From the first to the last of it, milliseconds since 1970. */
  fromMs: number;
  toMs: number;
}

export interface MarkedSpan {
  /** The range of the chart. */
  fromMs: number;
  toMs: number;
  /** Of the picture without its axes. */
  widthPx: number;
}

/** 0 -> "A", 25 -> "Z", 26 -> "AA": the letter of the n-th line of the list. */
export function letterOf(index: number): string {
  const last = String.fromCharCode(65 + (index % LETTERS));
  return index < LETTERS ? last : `${letterOf(Math.floor(index / LETTERS) - 1)}${last}`;
}

interface Group {
  first: number;
  last: number;
}

/**
 * The marks of moments in their order, oldest first: each moment is in exactly one of them, and no two labels touch.
 * @param times milliseconds since 1970, oldest first
 */
export function marksOf(times: readonly number[], span: MarkedSpan): Mark[] {
  const groups: Group[] = [];
  for (const index of times.keys()) {
    let group: Group = { first: index, last: index };
    let before = groups.at(-1);
    while (before !== undefined && touches(before, group, times, span)) {
      groups.pop();
      group = { first: before.first, last: group.last };
      before = groups.at(-1);
    }
    groups.push(group);
  }
  return groups.map((group) => ({
    label: labelOf(group),
    fromMs: times[group.first] ?? span.fromMs,
    toMs: times[group.last] ?? span.toMs,
  }));
}

function labelOf({ first, last }: Group): string {
  return first === last ? letterOf(first) : `${letterOf(first)}–${letterOf(last)}`;
}

function touches(a: Group, b: Group, times: readonly number[], span: MarkedSpan): boolean {
  const apartPx = middleOf(b, times, span) - middleOf(a, times, span);
  return apartPx < (labelPx(labelOf(a)) + labelPx(labelOf(b))) / 2 + GAP_PX;
}

/** Width of a label. */
export function labelPx(label: string): number {
  return label.length * LETTER_PX;
}

/** Where the label of a group stands, from the left edge of the picture. */
function middleOf(
  { first, last }: Group,
  times: readonly number[],
  { fromMs, toMs, widthPx }: MarkedSpan,
): number {
  const middleMs = ((times[first] ?? fromMs) + (times[last] ?? fromMs)) / 2;
  return ((middleMs - fromMs) / Math.max(1, toMs - fromMs)) * widthPx;
}
