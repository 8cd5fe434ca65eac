"use client";
/** How many requests of a tenant may be in flight at once, over all its destinations of one region. */
import { useState } from "react";
import { NumberField } from "#components/ui/number-field.tsx";
import type { TenantControlView } from "#db/console/control-views.ts";
import { MAX_TENANT_CONCURRENCY } from "./bounds.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { CountAndAge, Fact, Facts } from "./dialog-parts.tsx";
import { limitText, readLimit, stepWords } from "./limit-draft.ts";
import { DrainPreview, MeasuredFacts, StepNotes } from "./limit-parts.tsx";

export function TenantLimitsDialog({ request, onClose }: { request: ControlRequest; onClose: () => void }) {
  const fill = request.fill?.concurrencyLimit;
  /** Null: not touched, the field follows the row. */
  const [typed, setTyped] = useState<string | null>(fill === undefined ? null : limitText(fill));
  const [acknowledged, setAcknowledged] = useState(false);
  const draftOf = (shown: Shown<TenantControlView>) => readDraft(shown, typed, acknowledged);
  return (
    <ControlDialog<TenantControlView>
      request={request}
      onClose={onClose}
      wide
      plan={(shown) => {
        const draft = draftOf(shown);
        return {
          body: {
            concurrencyLimit: draft.value,
            ...(draft.step.needsTick && acknowledged ? { acknowledge429: true } : {}),
          },
          button: draft.problem === null && draft.changed ? `Set limit to ${draft.word}` : "Set limit",
          problem: draft.problem,
        };
      }}
    >
      {(shown) => {
        const { view } = shown;
        const draft = draftOf(shown);
        return (
          <>
            <TenantLimitFacts shown={shown} />
            <NumberField
              label="Requests in flight at once"
              name="the limit"
              value={draft.text}
              onChange={setTyped}
              min={1}
              max={MAX_TENANT_CONCURRENCY}
              placeholder={`${view.concurrency.inherited}`}
              hint={`Now ${limitWords(view)}. Empty inherits the region's ${view.concurrency.inherited}.`}
              error={draft.error}
            />
            <DrainPreview now={view.drain} then={{ ...view.drain, concurrency: draft.inForce }} />
            <StepNotes
              words={draft.step}
              step={view.step}
              acknowledged={acknowledged}
              onAcknowledge={setAcknowledged}
              tried={shown.tried}
            />
          </>
        );
      }}
    </ControlDialog>
  );
}

function TenantLimitFacts({ shown: { view, asOf } }: { shown: Shown<TenantControlView> }) {
  return (
    <Facts asOf={asOf}>
      <Fact label="Limit">{limitWords(view)}</Fact>
      <Fact label="In flight">
        {view.inFlight} of {view.concurrency.inForce}
      </Fact>
      <Fact label="Due now">
        <CountAndAge value={view.due} />
      </Fact>
      {view.gated.count === 0 ? null : (
        <Fact label="Behind a gate or breaker">
          <CountAndAge value={view.gated} />
        </Fact>
      )}
      <Fact label="Held now">
        <CountAndAge value={view.held} />
      </Fact>
      <MeasuredFacts serviceTime={view.serviceTime} throttle={view.throttle} />
      <Fact label="Weight">{view.weight}, its share while tenants compete</Fact>
    </Facts>
  );
}

function limitWords({ concurrency }: TenantControlView): string {
  return concurrency.limit === null ? `${concurrency.inForce}, inherited` : `${concurrency.limit}, its own`;
}

function readDraft({ view, nowMs }: Shown<TenantControlView>, typed: string | null, acknowledged: boolean) {
  const { limit, inherited } = view.concurrency;
  const text = typed ?? limitText(limit);
  const read = readLimit({ text, min: 1, max: MAX_TENANT_CONCURRENCY, whole: true, empty: "the region's" });
  const from = limit ?? inherited;
  const to = read.error === null ? (read.value ?? inherited) : from;
  const step = stepWords({
    changes: [{ name: "concurrency", from, to }],
    step: view.step,
    only: view.permit.limits?.only,
    bounds: { concurrency: view.policy.maxTenantConcurrency, rate: view.policy.maxRatePerSecond },
    acknowledged,
    nowMs,
  });
  const changed = read.error === null && read.value !== limit;
  return {
    text,
    value: read.value,
    error: read.error,
    inForce: to,
    step,
    changed,
    word: read.value === null ? `inherited (${inherited})` : String(read.value),
    problem: read.error ?? (changed ? step.problem : "Nothing is changed yet."),
  };
}
