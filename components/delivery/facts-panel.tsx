/** What identifies a delivery and who it belongs to. Ids can be copied; bodies and secrets are not here. */
import Link from "next/link";
import type { ReactNode } from "react";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { formatBytes } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";
import { traceIdOf } from "#domain/sent-headers.ts";

export interface FactsPanelProps {
  delivery: DeliveryDetail;
  stale: boolean;
  /** Where a trace id leads to, with `{traceId}` in it; null: nowhere. */
  traceUrl: string | null;
}

/** A list of names and values. */
export function FactsPanel({ delivery, stale, traceUrl }: FactsPanelProps) {
  const { region, tenant, destination } = delivery;
  return (
    <Panel title="Envelope" stale={stale}>
      <dl className="grid gap-3">
        <Fact label="Idempotency key">
          <Copyable text={delivery.idempotencyKey} what="idempotency key" />
        </Fact>
        <Fact label="Tenant">
          <Link
            href={`/tenants/${tenant.id}?region=${region}`}
            prefetch={false}
            className="underline-offset-4 hover:underline"
          >
            {tenant.name}
          </Link>{" "}
          <span className="text-faint">{tenant.slug}</span>{" "}
          <Link
            href={`/deliveries?region=${region}&tenant=${tenant.slug}`}
            prefetch={false}
            className="text-muted text-table underline underline-offset-4"
          >
            its deliveries
          </Link>
        </Fact>
        <Fact label="Destination">
          <Link
            href={`/destinations/${destination.id}?region=${region}`}
            prefetch={false}
            className="underline-offset-4 hover:underline"
          >
            {destination.name}
          </Link>{" "}
          <span className="text-faint">{destination.host}</span>
        </Fact>
        <Fact label="Event type">{delivery.eventType}</Fact>
        <Fact label="Service class">{delivery.serviceClass}</Fact>
        <Fact label="Region">{delivery.region.toUpperCase()}, for good</Fact>
        <Fact label="Accepted">
          <Timestamp iso={delivery.createdAt} form="exact" named />
        </Fact>
        <Fact label="Payload">{payloadText(delivery)}</Fact>
        {delivery.cycle > 1 ? <Fact label="Cycle">{delivery.cycle}</Fact> : null}
        {delivery.lostLeases > 0 ? <Fact label="Lost leases in a row">{delivery.lostLeases}</Fact> : null}
        {delivery.replay === null ? null : (
          <Fact label="Replay batch">
            <Link
              href={`/replays/${delivery.replay.id}?region=${region}`}
              prefetch={false}
              className="underline-offset-4 hover:underline"
            >
              {delivery.replay.name}
            </Link>
          </Fact>
        )}
        {delivery.traceparent ? (
          <Fact label="Trace">
            <Trace traceparent={delivery.traceparent} traceUrl={traceUrl} />
          </Fact>
        ) : null}
      </dl>
    </Panel>
  );
}

/** The trace id leads to the tracing system where one is configured; the whole traceparent can be copied. */
function Trace({ traceparent, traceUrl }: { traceparent: string; traceUrl: string | null }) {
  const traceId = traceIdOf(traceparent);
  if (traceId === null || traceUrl === null) return <Copyable text={traceparent} what="traceparent" />;
  return (
    <span className="flex items-start gap-1">
      <a
        href={traceUrl.replaceAll("{traceId}", traceId)}
        target="_blank"
        rel="noreferrer"
        className="min-w-0 break-all font-mono text-table underline underline-offset-4"
      >
        {traceId}
      </a>
      <CopyButton text={traceparent} what="traceparent" />
    </span>
  );
}

/** Erased is for good; restricted is kept apart, and a person can give it back. */
function payloadText({ payload }: DeliveryDetail): ReactNode {
  const { erasedAt, restrictedAt, contentType } = payload;
  const size = formatBytes(payload.sizeBytes);
  if (erasedAt !== null) {
    return (
      <>
        {size}, erased <Timestamp iso={erasedAt} form="exact" named />
      </>
    );
  }
  if (restrictedAt !== null) {
    return (
      <>
        {size}, restricted <Timestamp iso={restrictedAt} form="exact" named />: kept apart, and no attempt can
        send it
      </>
    );
  }
  return contentType === null
    ? `${size}, stored no longer: its retention has ended`
    : `${size}, ${contentType}, body hidden`;
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-faint text-table">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <span className="flex items-start gap-1">
      <code className="min-w-0 break-all font-mono text-table">{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}
