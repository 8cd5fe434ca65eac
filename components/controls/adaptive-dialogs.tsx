"use client";
/** Fix the adaptive limit of a destination at a number, or let it move again. The cap bounds it either way. */
import { useState } from "react";
import { NumberField } from "#components/ui/number-field.tsx";
import type { DestinationControlView } from "#db/console/control-views.ts";
import { MAX_DESTINATION_CONCURRENCY } from "./bounds.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { Effects, Fact, Facts } from "./dialog-parts.tsx";
import { readLimit, stepWords } from "./limit-draft.ts";
import { MeasuredFacts, StepNotes } from "./limit-parts.tsx";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

export function PinDialog({ request, onClose }: DialogProps) {
  const fill = request.fill?.adaptiveLimit;
  const [typed, setTyped] = useState<string | null>(fill === undefined ? null : String(fill));
  const [acknowledged, setAcknowledged] = useState(false);
  const draftOf = (shown: Shown<DestinationControlView>) => readPin(shown, typed, acknowledged);
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      plan={(shown) => {
        const { value, error, step } = draftOf(shown);
        return {
          body: { limit: value, ...(step.needsTick && acknowledged ? { acknowledge429: true } : {}) },
          button: error === null ? `Pin at ${value}` : "Pin",
          problem: error ?? step.problem,
        };
      }}
    >
      {(shown) => {
        const draft = draftOf(shown);
        return (
          <>
            <AdaptiveFacts shown={shown} />
            <Effects>
              <li>Workers neither raise nor lower it until it is unpinned, whatever the receiver answers.</li>
              <li>The cap of {capOf(shown.view)} still bounds it. Gate and breaker still work.</li>
            </Effects>
            <NumberField
              label="Adaptive limit"
              name="the adaptive limit"
              value={draft.text}
              onChange={setTyped}
              min={1}
              max={MAX_DESTINATION_CONCURRENCY}
              error={draft.error}
            />
            <StepNotes
              words={draft.step}
              step={shown.view.step}
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

function readPin(
  { view, nowMs }: Shown<DestinationControlView>,
  typed: string | null,
  acknowledged: boolean,
) {
  const from = view.concurrency.inForce;
  const text = typed ?? String(view.adaptive.limit ?? from);
  const { value, error } = readLimit({
    text,
    min: 1,
    max: MAX_DESTINATION_CONCURRENCY,
    whole: true,
    empty: null,
  });
  const step = stepWords({
    changes: value === null ? [] : [{ name: "concurrency", from, to: Math.min(value, capOf(view)) }],
    step: view.step,
    only: view.permit.limits?.only,
    bounds: { concurrency: view.policy.maxDestinationConcurrency, rate: view.policy.maxRatePerSecond },
    acknowledged,
    nowMs,
  });
  return { text, value, error, step };
}

function capOf({ concurrency }: DestinationControlView): number {
  return concurrency.limit ?? concurrency.inherited;
}

export function UnpinDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      plan={({ view }) => ({
        body: {},
        button: view.adaptive.limit === null ? "Unpin" : `Unpin from ${view.adaptive.limit}`,
        problem: view.adaptive.pinned ? null : "It is not pinned any more. Close this and look again.",
      })}
    >
      {(shown) => (
        <>
          <AdaptiveFacts shown={shown} />
          <Effects>
            <li>It goes on from where it is: up while answers come, down on 429 and timeouts.</li>
          </Effects>
        </>
      )}
    </ControlDialog>
  );
}

function AdaptiveFacts({ shown: { view, asOf } }: { shown: Shown<DestinationControlView> }) {
  const { adaptive } = view;
  return (
    <Facts asOf={asOf}>
      <Fact label="Adaptive limit">
        {adaptive.limit === null
          ? "none, only the cap limits"
          : `${adaptive.limit}${adaptive.pinned ? ", pinned" : ""}`}
      </Fact>
      {adaptive.safeLimit === null ? null : <Fact label="Last known safe">{adaptive.safeLimit}</Fact>}
      {adaptive.why === null ? null : <Fact label="Last moved by">{adaptive.why}</Fact>}
      <Fact label="In flight">
        {view.inFlight} of {view.concurrency.inForce}
      </Fact>
      <MeasuredFacts serviceTime={view.serviceTime} throttle={view.throttle} />
    </Facts>
  );
}
