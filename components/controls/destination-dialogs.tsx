"use client";
/** Take a destination out of service and back, and open its gate before the time. Nothing is dropped by any of them. */
import { actorWords } from "#components/ui/actor-words.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationControlView } from "#db/console/control-views.ts";
import { drainTimeMs } from "#domain/drain-time.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";
import { DEFAULT_RESUME_SHARE } from "./bounds.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { boundedWords } from "./control-words.ts";
import { CountAndAge, Effects, Fact, Facts, Warning } from "./dialog-parts.tsx";
import { gateReasonWords } from "./gate-words.ts";
import { rampedDrainMs, rampWords } from "./resume-estimate.ts";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

export function DisableDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      danger
      plan={({ view }) => ({
        body: {},
        button: `Disable, holding ${boundedWords(view.due)} due`,
        problem: view.disabled === null ? null : "It is disabled already. Close this and look again.",
      })}
    >
      {(shown) => (
        <>
          <ServiceFacts shown={shown} />
          <Effects>
            <li>Events are held, not dropped, until somebody enables it. It has no end of its own.</li>
            <li>
              In flight now: {shown.view.inFlight}. They finish, within{" "}
              {formatLength(shown.view.requestDeadlineMs)}.
            </li>
            <li>New events are still accepted. Other destinations of {shown.view.tenantName} go on.</li>
          </Effects>
          <Warning>To stop it for a while only, pause it: a pause ends by itself.</Warning>
        </>
      )}
    </ControlDialog>
  );
}

export function EnableDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      plan={({ view }) => ({
        body: {},
        button: view.held.count === 0 ? "Enable" : `Enable, releasing ${boundedWords(view.held)} held`,
        problem: view.disabled === null ? "It is not disabled any more. Close this and look again." : null,
      })}
    >
      {(shown) => (
        <>
          <ServiceFacts shown={shown} />
          <Effects>
            <li>New events pass at once.</li>
            <li>What has piled up leaves slowly at first: {rampWords(DEFAULT_RESUME_SHARE)}.</li>
            <li>Estimated time: {enableEstimate(shown.view)}.</li>
          </Effects>
          {shown.view.gate === null ? null : (
            <Warning>
              The gate is shut until <Timestamp iso={shown.view.gate.until} form="clock" named plain />: work
              waits for it.
            </Warning>
          )}
        </>
      )}
    </ControlDialog>
  );
}

function enableEstimate(view: DestinationControlView): string {
  if (view.drain.waiting === 0) return "nothing waits";
  const ms = rampedDrainMs(drainTimeMs(view.drain), DEFAULT_RESUME_SHARE);
  return ms === null ? "not known, no request was answered well lately" : `about ${formatAge(ms)}`;
}

function ServiceFacts({ shown: { view, asOf } }: { shown: Shown<DestinationControlView> }) {
  return (
    <Facts asOf={asOf}>
      <Fact label="State">
        {view.disabled === null ? (
          "In service"
        ) : (
          <>
            Disabled since <Timestamp iso={view.disabled.at} named plain /> by {actorWords(view.disabled.by)}:{" "}
            {view.disabled.reason ?? "no reason stored"}
          </>
        )}
      </Fact>
      <Fact label="Receiver">{view.host}</Fact>
      <Fact label="In flight">{view.inFlight}</Fact>
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
    </Facts>
  );
}

export function OpenGateDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      plan={({ view }) => ({
        body: { gateUntil: view.gate?.until },
        button:
          view.gate === null ? "Open gate now" : `Open gate now, ${boundedWords(view.gate.waiting)} waiting`,
        problem: view.gate === null ? "The gate is not shut any more. Close this and look again." : null,
      })}
    >
      {(shown) => (
        <>
          <GateFacts shown={shown} />
          <Effects>
            <li>
              One probe goes first: the delivery that shut the gate. Its answer lets the others follow, or
              shuts it again.
            </li>
            <li>
              The receiver asked for this wait. A request before its time may be answered with 429 again.
            </li>
            <li>Pause, caps and rate still hold.</li>
          </Effects>
        </>
      )}
    </ControlDialog>
  );
}

function GateFacts({ shown: { view, asOf, nowMs } }: { shown: Shown<DestinationControlView> }) {
  const { gate } = view;
  if (gate === null) {
    return (
      <Facts asOf={asOf}>
        <Fact label="Gate">Open</Fact>
      </Facts>
    );
  }
  return (
    <Facts asOf={asOf}>
      <Fact label="Shut until">
        <Timestamp iso={gate.until} named plain />, in {formatAge(Date.parse(gate.until) - nowMs)}
      </Fact>
      <Fact label="Why">{gateReasonWords(gate)}</Fact>
      {gate.since === null ? null : (
        <Fact label="Shut since">
          <Timestamp iso={gate.since} named plain />
        </Fact>
      )}
      <Fact label="Shut in a row">{gate.consecutive}</Fact>
      <Fact label="Waiting">
        <CountAndAge value={gate.waiting} />
      </Fact>
      {view.breaker === null ? null : (
        <Fact label="Breaker">Open: {view.breaker.why ?? "the destination is judged down"}</Fact>
      )}
    </Facts>
  );
}
