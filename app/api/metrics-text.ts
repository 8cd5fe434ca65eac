/**
 * The overview in the Prometheus text format 0.0.4. A region that does not answer has `sluice_region_up 0` and no other
 * line; a number that is not known has no line. Nothing here may turn either into a zero, and no label names a tenant.
 */
import type { RegionOverview } from "#db/console/read-overview.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { SERVICE_CLASSES } from "#domain/delivery.ts";
import type { Thresholds } from "#domain/objectives.ts";
import { HELD_REASONS } from "#domain/queue-age.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const SECOND_MS = 1_000;

/** One value of a region; null: not known, so that there is no line. */
interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | null;
}

interface Family {
  readonly name: string;
  readonly help: string;
  /** @param asOfMs of the region's answer, by its own database's clock */
  readonly samples: (region: RegionOverview, asOfMs: number) => readonly Sample[];
}

/** Every one is a gauge: a number of this moment, or of a window that ends with it. */
const FAMILIES: readonly Family[] = [
  {
    name: "sluice_answer_timestamp_seconds",
    help: "The moment that the region's ages and depths are of, by its own database's clock.",
    samples: (_region, asOfMs) => one(asOfMs / SECOND_MS),
  },
  {
    name: "sluice_first_attempt_oldest_seconds",
    help: "Age of the oldest delivery without a stored attempt outcome; 0 when none waits.",
    samples: ({ firstAttempt }) =>
      firstAttempt.map(({ serviceClass, oldestMs }) => ({
        labels: { class: serviceClass },
        value: oldestMs / SECOND_MS,
      })),
  },
  {
    name: "sluice_first_attempt_late_tenants",
    help: "Tenants whose oldest first attempt is past the target of its class.",
    samples: ({ firstAttempt }) =>
      firstAttempt.map(({ serviceClass, tenantsLate }) => ({
        labels: { class: serviceClass },
        value: tenantsLate,
      })),
  },
  {
    name: "sluice_first_attempt_p95_seconds",
    help: "Time from due to first attempt, 95th percentile of 5 minutes, of the class that is worst against its target.",
    samples: ({ recent: { firstAttemptP95: p95 } }) =>
      p95 === null ? [] : [{ labels: { class: p95.serviceClass }, value: p95.ms / SECOND_MS }],
  },
  {
    name: "sluice_first_attempt_within_target_ratio",
    help: "New deliveries of 15 minutes that were tried within the target of their class.",
    samples: ({ triedShares }) =>
      triedShares.map(({ serviceClass, share }) => ({ labels: { class: serviceClass }, value: share })),
  },
  {
    name: "sluice_first_attempt_target_seconds",
    help: "The objective in force: a first attempt that waits longer is late.",
    samples: ({ thresholds }) => ofClasses(thresholds, "firstAttemptTargetMs"),
  },
  {
    name: "sluice_first_attempt_page_seconds",
    help: "The objective in force: a first attempt that waits longer should wake somebody.",
    samples: ({ thresholds }) => ofClasses(thresholds, "firstAttemptPageMs"),
  },
  {
    name: "sluice_due_page_seconds",
    help: "The objective in force: due work that waits longer should wake somebody.",
    samples: ({ thresholds }) => one(thresholds.dueLag.pageMs / SECOND_MS),
  },
  {
    name: "sluice_due_oldest_seconds",
    help: "Age of the oldest due but unclaimed delivery, held work left out; 0 when there is none.",
    samples: ({ due }) => one(due.oldestMs / SECOND_MS),
  },
  {
    name: "sluice_due",
    help: "Due but unclaimed deliveries, held work left out.",
    samples: ({ due }) => one(due.count),
  },
  {
    name: "sluice_gated",
    help: "Due deliveries whose destination's gate is shut.",
    samples: ({ gated }) => one(gated),
  },
  {
    name: "sluice_held",
    help: "Due deliveries that a person's decision keeps waiting, by reason.",
    samples: ({ held }) => heldOf(held).map(({ why, count }) => ({ labels: { reason: why }, value: count })),
  },
  {
    name: "sluice_held_oldest_seconds",
    help: "Age of the oldest held delivery, by reason; 0 when there is none.",
    samples: ({ held }) =>
      heldOf(held).map(({ why, oldestMs }) => ({ labels: { reason: why }, value: oldestMs / SECOND_MS })),
  },
  {
    name: "sluice_in_flight",
    help: "Deliveries that workers hold.",
    samples: ({ inFlight }) => one(inFlight),
  },
  {
    name: "sluice_in_flight_limit",
    help: "Slots of the region's running workers.",
    samples: ({ slots }) => one(slots),
  },
  {
    name: "sluice_dead_letters",
    help: "Dead letters that wait for a person; a count above 10000 is answered as 10001.",
    samples: ({ deadLetters }) => one(deadLetters.count),
  },
  {
    name: "sluice_dead_letter_oldest_seconds",
    help: "Age of the oldest of them; 0 when there is none.",
    samples: ({ deadLetters }) => one(deadLetters.oldestMs / SECOND_MS),
  },
  {
    name: "sluice_rate_limited_ratio",
    help: "429 answers of all requests of 5 minutes; no line without a request.",
    samples: ({ recent }) => one(recent.rateLimitedShare),
  },
  {
    name: "sluice_expired_leases",
    help: "Leases that ended without a result, in 15 minutes.",
    samples: ({ recent }) => one(recent.expiredLeases),
  },
  {
    name: "sluice_workers",
    help: "Worker processes of the region that run and were heard of lately.",
    samples: ({ workers }) => one(workers.running),
  },
  {
    name: "sluice_claims_stopped",
    help: "1 while the region's claims are stopped by a person.",
    samples: ({ draining }) => one(draining === null ? 0 : 1),
  },
  {
    name: "sluice_sample_age_seconds",
    help: "Time since the workers' last good sampling; no line before the first.",
    samples: ({ lastSampleAt }, asOfMs) => one(ageSeconds(lastSampleAt, asOfMs)),
  },
  {
    name: "sluice_counted_age_seconds",
    help: "Time since attempts were last counted: percentiles, ratios and expired leases are no newer.",
    samples: ({ countedAt }, asOfMs) => one(ageSeconds(countedAt, asOfMs)),
  },
];

/** The whole answer. Families without a sample are left out; the regions keep their order. */
export function metricsText(regions: readonly RegionAnswer<RegionOverview>[]): string {
  const up = regions.map(({ region, status }) =>
    lineOf("sluice_region_up", { region }, status === "ok" ? 1 : 0),
  );
  const families = FAMILIES.flatMap((family) => {
    const lines = regions.flatMap((answer) => (answer.status === "ok" ? linesOf(family, answer) : []));
    return lines.length === 0 ? [] : [...headOf(family), ...lines];
  });
  const head = headOf({
    name: "sluice_region_up",
    help: "1 when the region's database answered this read; with 0 nothing else is known of it.",
  });
  return `${[...head, ...up, ...families].join("\n")}\n`;
}

function linesOf(
  { name, samples }: Family,
  { region, asOf, data }: Extract<RegionAnswer<RegionOverview>, { status: "ok" }>,
): string[] {
  return samples(data, Date.parse(asOf)).flatMap(({ labels, value }) =>
    value === null ? [] : [lineOf(name, { region, ...labels }, value)],
  );
}

function headOf({ name, help }: Pick<Family, "name" | "help">): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`];
}

function lineOf(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}{${pairs.join(",")}} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Every reason that there is: one that holds nothing is a true zero, and an alert on it never loses its series. */
function heldOf(held: RegionOverview["held"]): RegionOverview["held"] {
  const known = HELD_REASONS.map(
    (why) => held.find((row) => row.why === why) ?? { why, count: 0, oldestMs: 0 },
  );
  return [...known, ...held.filter(({ why }) => !HELD_REASONS.some((reason) => reason === why))];
}

function ofClasses(
  { objectives }: Thresholds,
  limit: "firstAttemptTargetMs" | "firstAttemptPageMs",
): Sample[] {
  return SERVICE_CLASSES.map((serviceClass) => ({
    labels: { class: serviceClass },
    value: objectives[serviceClass][limit] / SECOND_MS,
  }));
}

function one(value: number | null): Sample[] {
  return [{ value }];
}

function ageSeconds(iso: string | null, asOfMs: number): number | null {
  return iso === null ? null : Math.max(0, asOfMs - Date.parse(iso)) / SECOND_MS;
}
