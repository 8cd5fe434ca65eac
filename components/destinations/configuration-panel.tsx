"use client";
/** How requests to a destination are signed and retried, and its newest test event. Never a secret, nor a path. */
import Link from "next/link";
import { Fact, Facts } from "#components/tenants/figures.tsx";
import { actorWords } from "#components/ui/actor-words.ts";
import { formatCount } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { ageAt, relativeTo } from "#components/ui/relative.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { resultText, STATE_WORDS } from "#components/ui/words.ts";
import type { DestinationDetail } from "#db/console/read-destination.ts";
import { formatAge } from "#domain/queue-age.ts";

export interface ConfigurationPanelProps {
  destination: DestinationDetail;
  asOf: string;
  stale: boolean;
}

export function ConfigurationPanel({ destination, asOf, stale }: ConfigurationPanelProps) {
  return (
    <Panel title="Signing, retries, test" stale={stale}>
      <Facts>
        <SecretFact destination={destination} asOf={asOf} />
        <Fact label="Signature headers" note="webhook-id, webhook-timestamp, webhook-signature">
          Standard Webhooks
          {destination.plainSignatureHeader === null ? null : (
            <>
              {" and "}
              <code className="break-all font-mono text-table">{destination.plainSignatureHeader}</code>
            </>
          )}
        </Fact>
        <Fact label="Created">
          <Timestamp iso={destination.createdAt} />
        </Fact>
        <TestFact destination={destination} asOf={asOf} />
      </Facts>
      <PolicyOverride override={destination.policyOverride} />
    </Panel>
  );
}

function SecretFact({ destination, asOf }: Omit<ConfigurationPanelProps, "stale">) {
  const { secretSetAt, previousSecretUntil } = destination;
  return (
    <Fact
      label="Signing secret"
      note={
        previousSecretUntil === null ? (
          "one secret signs"
        ) : (
          <>
            in rotation: the previous one signs too until <Timestamp iso={previousSecretUntil} /> (
            {relativeTo(previousSecretUntil, asOf)})
          </>
        )
      }
    >
      Set <Timestamp iso={secretSetAt} />, {formatAge(ageAt(secretSetAt, asOf))} old
    </Fact>
  );
}

function TestFact({ destination: { testEvent }, asOf }: Omit<ConfigurationPanelProps, "stale">) {
  if (testEvent === null) {
    return (
      <Fact label="Newest test event" note="a signed event of the type sluice.test">
        <span className="text-faint">none was sent</span>
      </Fact>
    );
  }
  const state = testEvent.state === null ? null : STATE_WORDS[testEvent.state];
  return (
    <Fact
      label="Newest test event"
      note={
        <>
          sent {relativeTo(testEvent.sentAt, asOf)} by {actorWords(testEvent.sentBy)};{" "}
          <Link
            href={`/deliveries/${testEvent.deliveryId}`}
            prefetch={false}
            className="underline underline-offset-4"
          >
            open it
          </Link>
        </>
      }
    >
      {state === null ? (
        <span className="text-faint">removed by retention</span>
      ) : (
        <>
          <StatusText tone={state.tone} icon={state.icon} label={state.label} />{" "}
          <span className="text-muted">
            {resultText(testEvent.outcome, testEvent.status)}
            {testEvent.attempts > 1 ? `, ${formatCount(testEvent.attempts)} attempts` : ""}
          </span>
        </>
      )}
    </Fact>
  );
}

function PolicyOverride({ override }: { override: DestinationDetail["policyOverride"] }) {
  return (
    <div className="mt-3">
      <h3 className="text-faint text-table">Policy override</h3>
      {override === null ? (
        <p className="text-muted">None: the policy of the delivery's class alone decides.</p>
      ) : (
        <pre className="mt-1 whitespace-pre-wrap break-words rounded-md bg-subtle px-3 py-2 font-mono text-table">
          {JSON.stringify(override, null, 2)}
        </pre>
      )}
    </div>
  );
}
