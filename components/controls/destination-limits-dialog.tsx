"use client";
/**
 * Concurrency, rate and burst of a destination, beside what was measured of it and the bound R x L x s that follows. That
 * bound is a starting point and is never put into the field by itself.
 */
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { NumberField } from "#components/ui/number-field.tsx";
import type { DestinationControlView } from "#db/console/control-views.ts";
import { formatAge } from "#domain/queue-age.ts";
import {
  MAX_DESTINATION_CONCURRENCY,
  MAX_RATE_BURST,
  MAX_RATE_PER_SECOND,
  MIN_RATE_PER_SECOND,
} from "./bounds.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import {
  type DestinationLimitDraft,
  type LimitField,
  readDestinationLimits,
  type TypedLimits,
} from "./destination-limit-draft.ts";
import { CountAndAge, Fact, Facts } from "./dialog-parts.tsx";
import { limitText } from "./limit-draft.ts";
import { DrainPreview, MeasuredFacts, StepNotes } from "./limit-parts.tsx";

export function DestinationLimitsDialog({
  request,
  onClose,
}: {
  request: ControlRequest;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState<TypedLimits>(() => filled(request));
  const [acknowledged, setAcknowledged] = useState(false);
  const draftOf = ({ view, nowMs }: Shown<DestinationControlView>) =>
    readDestinationLimits(view, typed, acknowledged, nowMs);
  const change = (field: LimitField, text: string) => setTyped((before) => ({ ...before, [field]: text }));
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      wide
      plan={(shown) => {
        const { body, changes, step, problem } = draftOf(shown);
        return {
          body: { ...body, ...(step.needsTick && acknowledged ? { acknowledge429: true } : {}) },
          button: changes.length === 0 ? "Change limits" : `Change ${changes.join(", ")}`,
          problem,
        };
      }}
    >
      {(shown) => {
        const { view, tried } = shown;
        const draft = draftOf(shown);
        return (
          <>
            <DestinationLimitFacts shown={shown} />
            <LimitFields view={view} draft={draft} onChange={change} />
            <Suggestion view={view} onUse={(limit) => change("concurrencyLimit", String(limit))} />
            <DrainPreview now={view.drain} then={draft.drain} />
            <StepNotes
              words={draft.step}
              step={view.step}
              acknowledged={acknowledged}
              onAcknowledge={setAcknowledged}
              tried={tried}
            />
          </>
        );
      }}
    </ControlDialog>
  );
}

function filled({ fill }: ControlRequest): TypedLimits {
  const text = (value: number | null | undefined) => (value === undefined ? null : limitText(value));
  return {
    concurrencyLimit: text(fill?.concurrencyLimit),
    ratePerSecond: text(fill?.ratePerSecond),
    rateBurst: text(fill?.rateBurst),
  };
}

function DestinationLimitFacts({ shown: { view, asOf } }: { shown: Shown<DestinationControlView> }) {
  const { concurrency, adaptive, rate } = view;
  const cap =
    concurrency.limit === null ? `${concurrency.inherited}, inherited` : `${concurrency.limit}, its own`;
  return (
    <Facts asOf={asOf}>
      <Fact label="Limit">{cap}</Fact>
      <Fact label="In force">
        {concurrency.inForce === (concurrency.limit ?? concurrency.inherited)
          ? concurrency.inForce
          : `${concurrency.inForce}, held down by the adaptive limit`}
      </Fact>
      <Fact label="Adaptive limit">
        {adaptive.limit === null ? "none" : `${adaptive.limit}${adaptive.pinned ? ", pinned" : ""}`}
        {adaptive.safeLimit === null ? "" : `, last known safe ${adaptive.safeLimit}`}
      </Fact>
      <Fact label="Rate">
        {rate.perSecond === null ? "none" : `${rate.perSecond} a second, burst ${rate.burst}`}
      </Fact>
      <Fact label="In flight">
        {view.inFlight} of {concurrency.inForce}
      </Fact>
      <Fact label="Due now">
        <CountAndAge value={view.due} />
      </Fact>
      {view.gated.count === 0 ? null : (
        <Fact label="Behind a gate or breaker">
          <CountAndAge value={view.gated} />
        </Fact>
      )}
      <MeasuredFacts serviceTime={view.serviceTime} throttle={view.throttle} />
    </Facts>
  );
}

interface LimitFieldsProps {
  view: DestinationControlView;
  draft: DestinationLimitDraft;
  onChange: (field: LimitField, text: string) => void;
}

function LimitFields({ view, draft, onChange }: LimitFieldsProps) {
  return (
    <>
      <NumberField
        label="Requests in flight at once"
        name="the limit"
        value={draft.text.concurrencyLimit}
        onChange={(text) => onChange("concurrencyLimit", text)}
        min={1}
        max={MAX_DESTINATION_CONCURRENCY}
        placeholder={String(view.concurrency.inherited)}
        hint={`Empty inherits the region's ${view.concurrency.inherited}.`}
        error={draft.read.concurrencyLimit.error}
      />
      <NumberField
        label="Rate"
        name="the rate"
        value={draft.text.ratePerSecond}
        onChange={(text) => onChange("ratePerSecond", text)}
        min={MIN_RATE_PER_SECOND}
        max={MAX_RATE_PER_SECOND}
        unit="a second"
        placeholder="none"
        hint="Empty: no rate."
        error={draft.read.ratePerSecond.error}
      />
      <NumberField
        label="Burst"
        name="the burst"
        value={draft.text.rateBurst}
        onChange={(text) => onChange("rateBurst", text)}
        min={1}
        max={MAX_RATE_BURST}
        hint="Requests that may start at once after a rest. Only counts with a rate."
        error={draft.read.rateBurst.error}
      />
    </>
  );
}

/** FAIR-9: the bound beside the cap in force, with its inputs. */
function Suggestion({ view, onUse }: { view: DestinationControlView; onUse: (limit: number) => void }) {
  const { limit, ratePerSecond, serviceTimeMs, margin, missing } = view.suggestion;
  if (limit === null || ratePerSecond === null || serviceTimeMs === null) {
    return <p className="text-muted text-table">{MISSING[missing ?? "rate_and_service_time"]}</p>;
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line px-3 py-2 text-table">
      <p className="min-w-0 flex-1 basis-64">
        <strong className="font-medium">
          R × L × s = {limit} in flight, {view.concurrency.inForce} in force.
        </strong>{" "}
        <span className="text-muted">
          Rate {ratePerSecond} a second × service time {formatAge(serviceTimeMs)} × margin {margin}. A
          starting point, not a proof.
        </span>
      </p>
      <Button onClick={() => onUse(limit)}>Use {limit}</Button>
    </div>
  );
}

const MISSING = {
  rate: "No starting point can be computed (R × L × s): the destination has no declared rate.",
  service_time: "No starting point can be computed (R × L × s): no request was answered well lately.",
  rate_and_service_time:
    "No starting point can be computed (R × L × s): there is no declared rate, and no request was answered well lately.",
} as const;
