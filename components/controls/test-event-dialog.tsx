"use client";
/** A signed event that means nothing to the receiver's business, to see whether a destination takes and checks them. */
import Link from "next/link";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationControlView } from "#db/console/control-views.ts";
import { formatAge } from "#domain/queue-age.ts";
import { AnswerMessage, AuditLink } from "./answer-toast.tsx";
import { ControlDialog } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { Effects, Fact, Facts, Warning } from "./dialog-parts.tsx";

export function TestEventDialog({ request, onClose }: { request: ControlRequest; onClose: () => void }) {
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      plan={({ view, nowMs }) => ({
        body: {},
        button: "Send 1 test event",
        problem: holdWords(view) ?? waitWords(view, nowMs),
      })}
      result={(answer) => (
        <div className="grid gap-3">
          <p>
            <AnswerMessage request={request} answer={answer} />
          </p>
          <p className="text-table">
            Its page shows what the receiver answers:{" "}
            <Link
              href={`/deliveries/${answer.after.deliveryId}`}
              className="break-all font-mono text-accent underline-offset-2 hover:underline"
            >
              {answer.after.deliveryId}
            </Link>
          </p>
          {typeof answer.after.waitsForGate === "string" ? (
            <Warning>
              The gate is shut: it waits until{" "}
              <Timestamp iso={answer.after.waitsForGate} form="clock" named plain />.
            </Warning>
          ) : null}
          <AuditLink request={request} auditId={answer.auditId} />
        </div>
      )}
    >
      {({ view, asOf, nowMs }) => (
        <>
          <Facts asOf={asOf}>
            <Fact label="Receiver">{view.host}</Fact>
            <Fact label="In flight">{view.inFlight}</Fact>
            <Fact label="Next one possible">
              {view.nextTestEventAt === null ? (
                "now"
              ) : (
                <Timestamp iso={view.nextTestEventAt} form="clock" named plain />
              )}
            </Fact>
          </Facts>
          <Effects>
            <li>
              One delivery of an event type for tests, signed like every other. Pause, gate, caps and rate
              hold for it.
            </li>
            <li>It is written once and sent like any delivery; a receiver must not act on it.</li>
          </Effects>
          {view.gate === null ? null : (
            <Warning>
              The gate is shut until <Timestamp iso={view.gate.until} form="clock" named plain />: the event
              waits for it.
            </Warning>
          )}
          {holdWords(view) === null ? null : <Warning>{holdWords(view)}</Warning>}
          {waitWords(view, nowMs) === null ? null : <Warning>{waitWords(view, nowMs)}</Warning>}
        </>
      )}
    </ControlDialog>
  );
}

/** A test event that only waits says nothing about the receiver: the API refuses it. */
function holdWords({ disabled, pause }: DestinationControlView): string | null {
  if (disabled !== null)
    return "This destination is disabled: a test event would only wait. Enable it first.";
  return pause.until === null
    ? null
    : "This destination is paused: a test event would only wait. Resume it first.";
}

function waitWords({ nextTestEventAt }: DestinationControlView, nowMs: number): string | null {
  const waitMs = nextTestEventAt === null ? 0 : Date.parse(nextTestEventAt) - nowMs;
  return waitMs <= 0
    ? null
    : `A test event was sent a moment ago. The next one is possible in ${formatAge(waitMs)}.`;
}
