/** What identifies a delivery and who it belongs to. Ids can be copied; bodies and secrets are not here. */
import Link from "next/link";
import type { ReactNode } from "react";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { formatBytes } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DeliveryDetail } from "#db/console/read-delivery.ts";

/** A list of names and values. */
export function FactsPanel({ delivery, stale }: { delivery: DeliveryDetail; stale: boolean }) {
  const list = `/deliveries?region=${delivery.region}&tenant=${delivery.tenant.slug}`;
  return (
    <Panel title="Envelope" stale={stale}>
      <dl className="grid gap-3">
        <Fact label="Idempotency key">
          <Copyable text={delivery.idempotencyKey} what="idempotency key" />
        </Fact>
        <Fact label="Tenant">
          <Link href={list} prefetch={false} className="underline-offset-4 hover:underline">
            {delivery.tenant.name}
          </Link>{" "}
          <span className="text-faint">{delivery.tenant.slug}</span>
        </Fact>
        <Fact label="Destination">
          <Link
            href={`${list}&destination=${delivery.destination.id}`}
            prefetch={false}
            className="underline-offset-4 hover:underline"
          >
            {delivery.destination.name}
          </Link>{" "}
          <span className="text-faint">{delivery.destination.host}</span>
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
        {delivery.traceparent ? (
          <Fact label="Trace">
            <Copyable text={delivery.traceparent} what="traceparent" />
          </Fact>
        ) : null}
      </dl>
    </Panel>
  );
}

function payloadText({ payload }: DeliveryDetail): ReactNode {
  if (payload.erasedAt !== null) {
    return (
      <>
        erased <Timestamp iso={payload.erasedAt} form="exact" named />
      </>
    );
  }
  return `${formatBytes(payload.sizeBytes)}${payload.contentType === null ? "" : `, ${payload.contentType}`}, body hidden`;
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
