"use client";
/** Request and response of one attempt: what was sent and what came back. Both bodies stay hidden until they are asked for. */
import { type ReactNode, useState } from "react";
import { formatBytes } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Select } from "#components/ui/select.tsx";
import { Cell, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { TabPanel, Tabs } from "#components/ui/tabs.tsx";
import { outcomeWords } from "#components/ui/words.ts";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import type { DeliveryAnswer, DeliveryDetail } from "#db/console/read-delivery.ts";
import { sentHeaders } from "#domain/sent-headers.ts";
import { RevealBody } from "./reveal-body.tsx";

const TABS = [
  { key: "request", label: "Request" },
  { key: "response", label: "Response" },
];
const HEADER_COLUMNS = [
  { key: "name", label: "Header" },
  { key: "value", label: "Value" },
] as const;

/** The latest attempt first; without any it shows the request that would be sent. */
export function ExchangePanel({ answer, stale }: { answer: DeliveryAnswer; stale: boolean }) {
  const { delivery, attempts } = answer;
  const tries = attempts.filter(({ kind }) => kind === "http" || kind === "stale_result").reverse();
  const [tab, setTab] = useState("request");
  const [chosen, setChosen] = useState<string | null>(null);
  const attempt = tries.find(({ id }) => id === chosen) ?? tries[0] ?? null;
  return (
    <Panel
      title="Request and response"
      stale={stale}
      note={attempt === null ? "not sent yet; this is what would be sent" : undefined}
      actions={
        attempt === null ? undefined : (
          <Select
            label="Attempt"
            value={attempt.id}
            options={tries.map((one) => ({ value: one.id, label: attemptLabel(one) }))}
            onChange={setChosen}
          />
        )
      }
    >
      <Tabs label="Request and response" value={tab} onChange={setTab} tabs={TABS} />
      <div className="pt-3">
        <TabPanel tab="request" value={tab}>
          <RequestTab delivery={delivery} attempt={attempt} />
        </TabPanel>
        <TabPanel tab="response" value={tab}>
          <ResponseTab delivery={delivery} attempt={attempt} />
        </TabPanel>
      </div>
    </Panel>
  );
}

interface TabProps {
  delivery: DeliveryDetail;
  attempt: AttemptEntry | null;
}

function RequestTab({ delivery, attempt }: TabProps) {
  const headers = sentHeaders({
    deliveryId: delivery.id,
    tenantId: delivery.tenant.id,
    region: delivery.region,
    idempotencyKey: delivery.idempotencyKey,
    eventType: delivery.eventType,
    contentType: delivery.payload.contentType,
    traceparent: delivery.traceparent,
    attempt: attempt?.number ?? delivery.attempts + 1,
    startedMs: attempt === null ? null : Date.parse(attempt.startedAt),
    replayId: (attempt === null ? delivery.replay : attempt.replay)?.id ?? null,
    replayHeader: null,
    plainSignatureHeader: delivery.signing.plainHeader,
  });
  const { erasedAt, restrictedAt, contentType } = delivery.payload;
  const gone = contentType === null ? "The payload is stored no longer: its retention has ended." : undefined;
  const since = erasedAt !== null ? "; erased since" : restrictedAt !== null ? "; restricted since" : "";
  return (
    <div className="grid gap-3">
      <p className="text-muted text-table">
        POST to {delivery.destination.host}; the path is not shown, since it can carry a secret of the
        customer.
      </p>
      <Table caption="Request headers" columns={HEADER_COLUMNS}>
        {headers.map(({ name, value, note }) => (
          <Row key={name}>
            <HeadCell className="font-mono">{name}</HeadCell>
            <Cell>
              <span
                className={
                  value === null ? "whitespace-normal text-muted" : "whitespace-normal break-all font-mono"
                }
              >
                {value ?? note}
              </span>
            </Cell>
          </Row>
        ))}
      </Table>
      <h3 className="font-medium">Body</h3>
      <p className="text-muted text-table">
        {formatBytes(delivery.payload.sizeBytes)}, the same bytes on every attempt
        {since}
      </p>
      <RevealBody
        key={delivery.id}
        region={delivery.region}
        deliveryId={delivery.id}
        what="payload"
        nothing={gone}
      />
    </div>
  );
}

function ResponseTab({ delivery, attempt }: TabProps) {
  if (attempt === null) return <p className="text-muted">No attempt was made yet.</p>;
  const { response } = attempt;
  return (
    <div className="grid gap-3">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <Fact label="Result">
          {attempt.status === null ? "" : `${attempt.status} `}
          {outcomeWords(attempt.outcome).label}
        </Fact>
        {attempt.retryAfter === null ? null : (
          <Fact label="Retry-After">
            <code className="break-all font-mono">{attempt.retryAfter.raw}</code>
          </Fact>
        )}
        <Fact label="Content type">{response?.contentType ?? "none"}</Fact>
        <Fact label="Size">
          {response === null ? "no body" : formatBytes(response.bytes)}
          {response?.truncated ? ", of which the first 16 KiB are stored" : ""}
        </Fact>
      </dl>
      <RevealBody
        key={attempt.id}
        region={delivery.region}
        deliveryId={delivery.id}
        what="response"
        attempt={attempt.number}
        nothing={response?.stored ? undefined : "This attempt has no stored response body."}
      />
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

function attemptLabel({ number, kind, status, outcome }: AttemptEntry): string {
  const result = status === null ? outcomeWords(outcome).label : String(status);
  return `Attempt ${number}: ${kind === "stale_result" ? "late, " : ""}${result}`;
}
