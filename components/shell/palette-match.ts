/** What of a list fits a typed text, and how rows of an answer become entries. Pure. */
import type { SearchAnswer } from "#db/console/search.ts";

export interface Candidate {
  label: string;
  /** Other words by which it is looked for. */
  words?: string;
}

/** True when every typed word begins a word of the candidate. */
export function fits({ label, words = "" }: Candidate, text: string): boolean {
  const own = `${label} ${words}`.toLowerCase().split(/[\s:,]+/);
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .every((word) => own.some((known) => known.startsWith(word)));
}

export interface FoundRow {
  key: string;
  group: "Tenants" | "Destinations" | "Deliveries";
  label: string;
  detail: string;
  href: string;
}

/** Rows of all regions that answered, in the order of the kinds. */
export function foundRows({ regions }: SearchAnswer): FoundRow[] {
  const answered = regions.flatMap((answer) => (answer.status === "ok" ? [answer] : []));
  return [
    ...answered.flatMap(({ region, data }) =>
      data.tenants.map(({ id, name, slug }) => ({
        key: id,
        group: "Tenants" as const,
        label: name,
        detail: `${slug}, ${region.toUpperCase()}`,
        href: `/tenants/${id}?region=${region}`,
      })),
    ),
    ...answered.flatMap(({ region, data }) =>
      data.destinations.map(({ id, name, host, tenantName }) => ({
        key: id,
        group: "Destinations" as const,
        label: `${tenantName}: ${name}`,
        detail: `${host}, ${region.toUpperCase()}`,
        href: `/destinations/${id}?region=${region}`,
      })),
    ),
    ...answered.flatMap(({ region, data }) =>
      data.deliveries.map(({ id, destinationName }) => ({
        key: id,
        group: "Deliveries" as const,
        label: `Delivery to ${destinationName}`,
        detail: `${id.slice(0, 10)}…${id.slice(-6)}, ${region.toUpperCase()}`,
        href: `/deliveries/${id}`,
      })),
    ),
  ];
}

/** Regions that were asked and did not answer. */
export function silentRegions({ regions }: SearchAnswer): string[] {
  return regions.flatMap(({ region, status }) => (status === "ok" ? [] : [region.toUpperCase()]));
}

/** The delivery that a text names outright, as in a log line or an address; null for any other text. */
export function deliveryIdIn(text: string): string | null {
  return /\bdlv_[0-9a-f]{32}\b/.exec(text)?.[0] ?? null;
}
