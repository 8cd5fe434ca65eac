"use client";
/** One tenant in one region: a row of the table, or a card with the fields that decide. Each status is icon, word and hue. */
import { Gauge, PauseCircle, SlidersHorizontal, TimerReset, Unplug } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { formatCount } from "#components/ui/format.ts";
import { Menu } from "#components/ui/menu.tsx";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, HeadCell, Row } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import type { Overview } from "#db/console/read-overview.ts";
import { formatAge } from "#domain/queue-age.ts";
import { HELD_WORDS } from "./held-words.ts";
import type { Line } from "./matrix-lines.ts";
import { NoisyMark } from "./noise-line.tsx";
import { bounded, capital, formatShare, toneOf } from "./overview-words.ts";

export interface MatrixLineProps {
  line: Line;
  overview: Overview;
}

export function MatrixLine({ line, overview }: MatrixLineProps) {
  const { warn, act } = line.thresholds.rateLimitedShare;
  return (
    <Row>
      <HeadCell>
        <Name line={line} />
      </HeadCell>
      <Cell className="text-muted">{line.region.toUpperCase()}</Cell>
      <Cell>
        <TenantState line={line} />
      </Cell>
      <Cell align="right">
        <FirstAttemptAge line={line} ms={line.firstAttemptMs} />
      </Cell>
      <Cell align="right">
        {line.firstAttemptP95Ms === null ? (
          <Nothing />
        ) : (
          <FirstAttemptAge line={line} ms={line.firstAttemptP95Ms} />
        )}
      </Cell>
      <Cell align="right">
        <DueAge line={line} />
      </Cell>
      <Cell align="right">
        <HeldAge line={line} />
      </Cell>
      <Cell align="right">
        <Dead line={line} overview={overview} />
      </Cell>
      <Cell align="right" className="max-xl:hidden">
        <Marked
          text={line.requestShare === null ? null : formatShare(line.requestShare)}
          tone={line.noisy ? "warn" : "neutral"}
        />
      </Cell>
      <Cell align="right">
        <Marked
          text={line.rateLimitedShare === null ? null : formatShare(line.rateLimitedShare)}
          tone={toneOf(line.rateLimitedShare, warn, act)}
        />
      </Cell>
      <Cell align="right" className={line.inFlight === 0 ? "text-faint" : undefined}>
        {formatCount(line.inFlight)} / {formatCount(line.limit)}
      </Cell>
      <Cell align="right" className="text-muted">
        {line.lastDeliveredAt === null ? (
          <Nothing />
        ) : (
          <NearTimestamp iso={line.lastDeliveredAt} asOf={line.asOf} />
        )}
      </Cell>
      <Cell align="right">
        <LineMenu line={line} />
      </Cell>
    </Row>
  );
}

/** Name, state, and the ages and counts that decide. */
export function MatrixCard({ line, overview }: MatrixLineProps) {
  return (
    <li className="grid gap-2 px-4 py-3">
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate">
          <Name line={line} /> <span className="text-muted">{line.region.toUpperCase()}</span>
        </span>
        <LineMenu line={line} />
      </div>
      <div className="flex flex-wrap gap-x-3">
        <TenantState line={line} />
        {line.noisy ? <NoisyMark /> : null}
      </div>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-1 text-table">
        <Field name="First attempt, oldest">
          <FirstAttemptAge line={line} ms={line.firstAttemptMs} />
        </Field>
        <Field name="Due, oldest">
          <DueAge line={line} />
        </Field>
        <Field name="Held apart">
          <HeldAge line={line} />
        </Field>
        <Field name="Dead letters">
          <Dead line={line} overview={overview} />
        </Field>
      </dl>
    </li>
  );
}

function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-faint">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function tenantPath(line: Line): string {
  return `/tenants/${line.id}?region=${line.region}`;
}

function Name({ line }: { line: Line }) {
  return (
    <Link
      href={tenantPath(line)}
      prefetch={false}
      className="inline-flex min-h-6 items-center font-medium underline-offset-4 hover:underline"
    >
      {line.name}
    </Link>
  );
}

function LineMenu({ line }: { line: Line }) {
  const router = useRouter();
  const of = `region=${line.region}&tenant=${line.slug}`;
  const item = (key: string, label: string, path: string) => ({
    key,
    label,
    onSelect: () => router.push(path),
  });
  return (
    <Menu
      label={`More about ${line.name}, ${line.region.toUpperCase()}`}
      items={[
        item("tenant", "Tenant and its controls", tenantPath(line)),
        item("deliveries", "Its deliveries", `/deliveries?${of}`),
        item("dead", "Its dead letters", `/dead-letters?${of}`),
        item("audit", "What people did to it", `/audit?region=${line.region}&target=${line.id}`),
      ]}
    />
  );
}

function FirstAttemptAge({ line, ms }: { line: Line; ms: number }) {
  const { firstAttemptWarnMs, firstAttemptTargetMs } =
    line.thresholds.objectives[line.firstAttemptClass ?? "routine"];
  return <Age ms={ms} tone={toneOf(ms, firstAttemptWarnMs, firstAttemptTargetMs)} />;
}

function DueAge({ line }: { line: Line }) {
  const { warnMs, pageMs } = line.thresholds.dueLag;
  return (
    <>
      <Age ms={line.due.oldestMs} tone={toneOf(line.due.oldestMs, warnMs, pageMs)} />
      <Of count={line.due.count} />
    </>
  );
}

/** Stands apart: it is in no other age of the line. */
function HeldAge({ line }: { line: Line }) {
  if (line.held.count === 0) return <Nothing />;
  return (
    <>
      <Age ms={line.held.oldestMs} tone="held" />
      <Of count={line.held.count} />
    </>
  );
}

function Of({ count }: { count: number }) {
  if (count === 0) return null;
  return <span className="text-muted"> of {formatCount(count)}</span>;
}

function Dead({ line, overview }: MatrixLineProps) {
  const { count, oldestMs } = line.deadLetters;
  if (count === 0) return <span className="text-faint">0</span>;
  return (
    <>
      <Link
        href={`/dead-letters?region=${line.region}&tenant=${line.slug}`}
        prefetch={false}
        className="underline-offset-4 hover:underline"
      >
        {bounded(count, overview.tenantDeadLimit)}
      </Link>
      <span className="text-muted">
        <span aria-hidden="true"> · </span>
        <span className="sr-only">, oldest </span>
      </span>
      <Age
        ms={oldestMs}
        tone={toneOf(oldestMs, line.thresholds.deadLetterWarnMs, Number.POSITIVE_INFINITY)}
      />
    </>
  );
}

function TenantState({ line }: { line: Line }) {
  switch (line.state) {
    case "paused":
      return <StatusText tone="held" icon={PauseCircle} label="Paused" />;
    case "held":
      return <StatusText tone="held" label={capital(HELD_WORDS[line.held.why ?? ""] ?? "Held")} />;
    case "circuit_open":
      return <Until tone="danger" icon={Unplug} label="Circuit open" line={line} />;
    case "rate_limited":
      return <Until tone="warn" icon={TimerReset} label="Rate-limited" line={line} />;
    case "limited":
      return <StatusText tone="warn" icon={SlidersHorizontal} label="Limited" />;
    case "active":
      return <StatusText tone="neutral" icon={Gauge} label="Active" />;
  }
}

interface UntilProps {
  tone: Tone;
  icon: typeof Gauge;
  label: string;
  line: Line;
}

function Until({ tone, icon, label, line: { stateUntil, asOf } }: UntilProps) {
  return (
    <span className="inline-flex items-center gap-1">
      <StatusText tone={tone} icon={icon} label={label} />
      {stateUntil === null ? null : (
        <span className="text-muted">
          until <NearTimestamp iso={stateUntil} asOf={asOf} />
        </span>
      )}
    </span>
  );
}

function Age({ ms, tone }: { ms: number; tone: Tone }) {
  if (ms === 0) return <span className="text-faint">{formatAge(0)}</span>;
  return <Marked text={formatAge(ms)} tone={tone} />;
}

function Marked({ text, tone }: { text: string | null; tone: Tone }) {
  if (text === null) return <Nothing />;
  if (tone === "neutral") return text;
  return <StatusText tone={tone} label={text} className="font-medium" />;
}

function Nothing() {
  return (
    <span className="text-faint">
      <span aria-hidden="true">–</span>
      <span className="sr-only">none</span>
    </span>
  );
}
