"use client";
/**
 * What would happen if every further attempt failed, or were answered with 429: the waits with the bounds of their jitter.
 * The steps come from the worker's own function; nothing is calculated here but sums for reading.
 */
import { useState } from "react";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Segmented } from "#components/ui/segmented.tsx";
import { Cell, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { reasonWords } from "#components/ui/words.ts";
import type { NextAttempts } from "#db/console/read-delivery.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";
import type { PreviewStep } from "#domain/retry-policy.ts";

const KINDS = [
  { value: "failed", label: "Every attempt fails" },
  { value: "throttled", label: "Every answer is 429" },
] as const;

const COLUMNS = [
  { key: "attempt", label: "Attempt" },
  { key: "failures", label: "Failures", align: "right" },
  { key: "wait", label: "Wait after it", align: "right" },
  { key: "sum", label: "Until then, about", align: "right" },
] as const;

export function NextAttemptsPanel({ next, stale }: { next: NextAttempts; stale: boolean }) {
  const [kind, setKind] = useState<"failed" | "throttled">("failed");
  if (next.policy === null) {
    return (
      <Panel title="Next attempts" stale={stale}>
        <p className="text-muted">
          Its retry policy cannot be used. The next claim ends it as a dead letter with the reason “
          {reasonWords("config_error").toLowerCase()}”.
        </p>
      </Panel>
    );
  }
  const steps = next[kind];
  return (
    <Panel
      title="Next attempts"
      stale={stale}
      actions={<Segmented label="What if" value={kind} options={KINDS} onChange={setKind} />}
    >
      <Table caption="Waits after each further attempt" columns={COLUMNS}>
        {steps.map((step, index) => (
          <Step
            key={step.attempt}
            step={step}
            maxFailures={next.policy?.maxFailures ?? 0}
            sumMs={sumMs(steps.slice(0, index + 1))}
          />
        ))}
      </Table>
      <p className="mt-2 text-muted text-table">{noteOf(next, kind)}</p>
    </Panel>
  );
}

function Step({ step, maxFailures, sumMs }: { step: PreviewStep; maxFailures: number; sumMs: number }) {
  return (
    <Row>
      <HeadCell>{formatCount(step.attempt)}</HeadCell>
      <Cell align="right">
        {formatCount(step.failures)} of {formatCount(maxFailures)}
      </Cell>
      <Cell align="right">
        {step.to === "dead" ? (
          <span className="text-danger">dead: {reasonWords(step.reason ?? "").toLowerCase()}</span>
        ) : (
          waitWords(step)
        )}
      </Cell>
      <Cell align="right">{step.to === "dead" ? "" : formatAge(sumMs)}</Cell>
    </Row>
  );
}

/** "4 s to 6 s", or one value where the jitter changes nothing that is shown. */
function waitWords({ minDelayMs, maxDelayMs }: PreviewStep): string {
  const least = formatAge(minDelayMs ?? 0);
  const most = formatAge(maxDelayMs ?? 0);
  return least === most ? least : `${least} to ${most}`;
}

function sumMs(steps: readonly PreviewStep[]): number {
  return steps.reduce((sum, { delayMs }) => sum + (delayMs ?? 0), 0);
}

function noteOf({ policy }: NextAttempts, kind: "failed" | "throttled"): string {
  if (policy === null) return "";
  const bounds = `between ${formatLength(policy.minDelayMs)} and ${formatLength(policy.maxDelayMs)}`;
  return kind === "failed"
    ? `A failure is an attempt without an answer or with a 5xx. A Retry-After takes the place of a wait, ${bounds}.`
    : `A 429 counts no failure and shuts the destination's gate as well. A Retry-After takes the place of a wait, ${bounds}. After ${formatLength(policy.maxThrottleMs)} of such waits it expires.`;
}
