"use client";
/** What the controls of tenants and destinations have in common: pause, what is in flight, and what was measured. */
import { actorWords } from "#components/ui/actor-words.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationControlView, PauseView, TenantControlView } from "#db/console/control-views.ts";
import { formatLength } from "#domain/queue-age.ts";
import { Fact } from "./figures.tsx";

export function PauseFact({ pause }: { pause: PauseView }) {
  if (pause.until !== null) {
    return (
      <Fact
        label="Pause"
        note={pause.reason === null ? undefined : `${actorWords(pause.by ?? "system")}: ${pause.reason}`}
      >
        <StatusText tone="held" label="Paused until" /> <Timestamp iso={pause.until} />
      </Fact>
    );
  }
  if (pause.resumedAt === null) return <Fact label="Pause">Not paused</Fact>;
  return (
    <Fact
      label="Pause"
      note={`what was due before began with ${Math.round((pause.resumeShare ?? 1) * 100)} % of cap and rate`}
    >
      Resumed <Timestamp iso={pause.resumedAt} />
    </Fact>
  );
}

/** In flight, and what the newest requests say: the inputs of a limit. */
export function ServiceFacts({ control }: { control: TenantControlView | DestinationControlView }) {
  const { serviceTime, throttle } = control;
  return (
    <>
      <Fact label="In flight" note={`they end within ${formatLength(control.requestDeadlineMs)}`}>
        {formatCount(control.inFlight)}
      </Fact>
      <Fact
        label="Service time"
        note={
          serviceTime === null
            ? "no success lately"
            : `from ${plural(serviceTime.samples, "request")} of the last ${formatLength(serviceTime.windowMs)}`
        }
      >
        {serviceTime === null ? (
          <span className="text-faint">unknown</span>
        ) : (
          `p50 ${formatCount(Math.round(serviceTime.p50Ms))} ms, p95 ${formatCount(Math.round(serviceTime.p95Ms))} ms`
        )}
      </Fact>
      <Fact
        label="429 share"
        note={`${formatCount(throttle.throttled)} of ${plural(throttle.requests, "request")}, last ${formatLength(throttle.windowMs)}`}
      >
        {throttle.share === null ? (
          <span className="text-faint">no request</span>
        ) : (
          `${(throttle.share * 100).toFixed(1)} %`
        )}
      </Fact>
    </>
  );
}
