/** The numbers of a region with their windows and what they are measured against. */
import type { ReactNode } from "react";
import { cx } from "#components/ui/cx.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { type Tone, ToneIcon, toneText } from "#components/ui/status.tsx";
import type { RegionHealth } from "#db/console/read-regions.ts";
import { formatAge } from "#domain/queue-age.ts";

/** A transaction that is open for longer keeps vacuum from its work. */
const OLD_TRANSACTION_MS = 5 * 60_000;
/** A server with less room than this refuses the next worker. */
const FULL_SHARE = 0.8;

export function RegionFacts({ health }: { health: RegionHealth }) {
  const { leases, database, expiredLeases, requestsPerSecond } = health;
  return (
    <dl className="grid grid-cols-3 gap-x-6 gap-y-4 max-lg:grid-cols-2 max-sm:grid-cols-1">
      <Fact label="Claim rate, last 5 minutes">
        {requestsPerSecond === null ? "no data" : `${rateText(requestsPerSecond)} requests/s`}
      </Fact>
      <Fact label="Leases held now">
        {formatCount(leases.held)}
        {leases.expired > 0 ? `, of them ${formatCount(leases.expired)} past their time` : ""}
      </Fact>
      <Fact label="Expired leases, 15 minutes" tone={expiredLeases.count > 0 ? "warn" : "ok"}>
        {formatCount(expiredLeases.count)}
      </Fact>
      <Fact label="Console's connections to it" tone={database.pool.waiting > 0 ? "warn" : "ok"}>
        {database.pool.inUse} in use of {database.pool.max}
        {database.pool.waiting > 0 ? `, ${plural(database.pool.waiting, "read")} waiting` : ""}
      </Fact>
      <Fact
        label="Database connections"
        tone={database.connections > FULL_SHARE * database.connectionsMax ? "warn" : "ok"}
      >
        {database.connections} of {database.connectionsMax}
      </Fact>
      <Fact
        label="Oldest open transaction"
        tone={(database.oldestTransactionMs ?? 0) > OLD_TRANSACTION_MS ? "warn" : "ok"}
      >
        {database.oldestTransactionMs === null ? "none" : formatAge(database.oldestTransactionMs)}
      </Fact>
      <PartitionFact partitions={health.partitions} />
    </dl>
  );
}

function Fact({ label, tone, children }: { label: string; tone?: Tone; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-faint text-table">{label}</dt>
      <dd className={cx("flex items-start gap-1.5 font-medium", tone === "warn" && toneText("warn"))}>
        {tone === "warn" ? <ToneIcon tone="warn" className="mt-1 size-3.5" /> : null}
        <span className="min-w-0 break-words">{children}</span>
      </dd>
    </div>
  );
}

function PartitionFact({ partitions }: { partitions: RegionHealth["partitions"] }) {
  const wrong = partitions.flatMap(({ parent, hasDefault, missing }) => [
    ...(hasDefault ? [] : [`${parent} has no default partition`]),
    ...(missing.length === 0 ? [] : [`${parent} lacks ${missing.join(", ")}`]),
  ]);
  const strayed = partitions.filter(
    ({ parent, defaultRows }) => defaultRows > 0 && parent !== "delivery_archive",
  );
  return (
    <Fact label="Daily partitions" tone={wrong.length + strayed.length > 0 ? "warn" : "ok"}>
      {wrong.length > 0
        ? wrong.join("; ")
        : strayed.length > 0
          ? strayed
              .map(({ parent, defaultRows }) => `about ${plural(defaultRows, "row")} in ${parent}'s default`)
              .join("; ")
          : "yesterday, today and tomorrow are there"}
    </Fact>
  );
}

function rateText(perSecond: number): string {
  return perSecond >= 10 ? formatCount(Math.round(perSecond)) : perSecond.toFixed(1);
}
