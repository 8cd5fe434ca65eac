"use client";
/** One cause beside the list: what it means, whom it hits, its newest entries, what people decided, and what may be done. */
import Link from "next/link";
import type { ReactNode } from "react";
import { useDeadLetterGroup } from "#components/queries/dead-letters.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { formatCount } from "#components/ui/format.ts";
import { Notice } from "#components/ui/notice.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { ShortId } from "#components/ui/short-id.tsx";
import { SidePanel } from "#components/ui/side-panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp, Timestamp } from "#components/ui/timestamp.tsx";
import type { DeadLetterGroupView } from "#db/console/read-dead-letter-group.ts";
import type { Region } from "#domain/region.ts";
import { ClassCell, CodeCell, CountCell } from "./cause-cells.tsx";
import { causeWords, GROUP_STATE_WORDS, lastHourWords } from "./cause-words.ts";
import { PayloadCell } from "./dead-letters-table.tsx";
import { GroupActions } from "./group-actions.tsx";
import { TrendBars, trendSentence } from "./trend-bars.tsx";
import type { DeadLetterFilters } from "./use-dead-letter-filters.ts";

export interface GroupPanelProps {
  region: Region;
  /** `dlg_...` */
  id: string;
  list: DeadLetterFilters;
}

export function GroupPanel({ region, id, list }: GroupPanelProps) {
  const query = useDeadLetterGroup(region, id);
  const answer = query.data;
  const view = answer?.status === "ok" ? answer.data : null;
  return (
    <SidePanel open onClose={() => list.open(null)} title={view === null ? "Cause" : causeWords(view).title}>
      {view !== null && answer?.status === "ok" ? (
        <Cause view={view} asOf={answer.asOf} region={region} list={list} />
      ) : answer?.status === "unavailable" ? (
        <Notice kind="unavailable" title={`Region ${region.toUpperCase()} does not answer`}>
          {answer.detail} What is known of the cause is in its database; this panel asks again every 5 s.
        </Notice>
      ) : query.error !== null ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div aria-hidden="true" className="grid gap-3">
          <Skeleton className="h-6 w-48" />
          <Skeleton className="h-24 w-full" />
          <Skeleton className="h-48 w-full" />
        </div>
      )}
    </SidePanel>
  );
}

interface CauseProps {
  view: DeadLetterGroupView;
  asOf: string;
  region: Region;
  list: DeadLetterFilters;
}

function Cause({ view, asOf, region, list }: CauseProps) {
  const state = GROUP_STATE_WORDS[view.state];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <div className="grid gap-2">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <StatusBadge tone={state.tone} label={state.label} />
          <ClassCell row={view} />
          <CodeCell row={view} />
          <span className="font-mono text-axis text-faint">#{view.tag}</span>
        </p>
        <p className="text-muted">{causeWords(view).hint}</p>
        {view.state === "regressed" && view.resolvedAt !== null ? (
          <p className="text-danger">
            It was called resolved <Timestamp iso={view.resolvedAt} named />, and entries came within a day
            after.
          </p>
        ) : null}
      </div>
      <GroupActions region={region} view={view} asOf={asOf} />
      <Facts view={view} asOf={asOf} region={region} />
      <Section title="What people wrote">
        <Note view={view} />
      </Section>
      <Section title="Whom it hits">
        <Shares view={view} region={region} />
      </Section>
      <Section
        title={`Newest ${view.samples.length} of ${formatCount(view.count)}${view.more ? "+ entries" : view.count === 1 ? " entry" : " entries"}`}
        action={<Button onClick={() => list.show("entries", view.id)}>Show its entries</Button>}
      >
        <Samples view={view} asOf={asOf} />
        <p className="mt-1.5 text-muted text-table">
          What the receiver answered stands with each attempt of an entry. Revealing it is audited.
        </p>
      </Section>
      <Section title="What was done">
        <History view={view} region={region} />
      </Section>
    </div>
  );
}

function Section({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="mb-1.5 flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium">{title}</h3>
        {action}
      </div>
      {children}
    </section>
  );
}

function Facts({ view, asOf, region }: { view: DeadLetterGroupView; asOf: string; region: Region }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-table">
      <dt className="text-faint">Entries in {region.toUpperCase()}</dt>
      <dd>
        <CountCell row={view} />
      </dd>
      <dt className="text-faint">Last 24 h</dt>
      <dd className="flex flex-wrap items-center gap-x-3">
        <TrendBars values={view.trend} /> {trendSentence(view.trend)}
      </dd>
      <dt className="text-faint">First seen</dt>
      <dd>
        <Timestamp iso={view.firstSeenAt} named />, {relativeTo(view.firstSeenAt, asOf)}
      </dd>
      <dt className="text-faint">Last seen</dt>
      <dd>
        <Timestamp iso={view.lastSeenAt} named />, {relativeTo(view.lastSeenAt, asOf)}
      </dd>
      <dt className="text-faint">Assignee</dt>
      <dd className="break-words">{view.assignee ?? "nobody"}</dd>
      {view.stateBy === null || view.stateAt === null ? null : (
        <>
          <dt className="text-faint">Status by</dt>
          <dd className="break-words">
            {actorWords(view.stateBy)}, <Timestamp iso={view.stateAt} named />
          </dd>
        </>
      )}
    </dl>
  );
}

function Note({ view }: { view: DeadLetterGroupView }) {
  if (view.noteHidden) {
    return (
      <p className="text-muted text-table">
        There is a note, but the cause also holds entries of tenants outside of your scope, so it is not
        shown.
      </p>
    );
  }
  if (view.note === null) return <p className="text-faint text-table">No note yet.</p>;
  return <p className="whitespace-pre-wrap break-words text-table">{view.note}</p>;
}

const SAMPLE_COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "tenant", label: "Tenant" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "died", label: "Died at", align: "right" },
  { key: "payload", label: "Payload until" },
  { key: "replays", label: "Replays", align: "right" },
];

function Samples({ view, asOf }: { view: DeadLetterGroupView; asOf: string }) {
  return (
    <Table caption="Newest entries of the cause" columns={SAMPLE_COLUMNS}>
      {view.samples.map((row) => (
        <Row key={row.id}>
          <HeadCell>
            <Link href={`/deliveries/${row.id}`} prefetch={false} className={LINK}>
              <ShortId id={row.id} />
            </Link>
          </HeadCell>
          <Cell>{row.tenant.name}</Cell>
          <Cell align="right">{row.attempts}</Cell>
          <Cell align="right">
            <NearTimestamp iso={row.diedAt} asOf={asOf} />
          </Cell>
          <Cell>{row.willNotReplay ? "will not be replayed" : <PayloadCell row={row} asOf={asOf} />}</Cell>
          <Cell align="right">{row.replays}</Cell>
        </Row>
      ))}
    </Table>
  );
}

const SHARE_COLUMNS: readonly Column[] = [
  { key: "tenant", label: "Tenant" },
  { key: "destination", label: "Destination" },
  { key: "host", label: "Host" },
  { key: "entries", label: "Entries", align: "right" },
  { key: "hour", label: "All of its last hour", align: "right" },
];

function Shares({ view, region }: { view: DeadLetterGroupView; region: Region }) {
  return (
    <Table caption="Tenants and destinations of the cause" columns={SHARE_COLUMNS}>
      {view.shares.map(({ tenant, destination, entries, lastHour }) => (
        <Row key={`${tenant.id}${destination.id}`}>
          <HeadCell>
            <Link href={`/tenants/${tenant.id}?region=${region}`} prefetch={false} className={LINK}>
              {tenant.name}
            </Link>
          </HeadCell>
          <Cell>
            <Link href={`/destinations/${destination.id}?region=${region}`} prefetch={false} className={LINK}>
              {destination.name}
            </Link>
          </Cell>
          <Cell className="text-muted">{destination.host}</Cell>
          <Cell align="right">{formatCount(entries)}</Cell>
          <Cell align="right">{lastHourWords(lastHour)}</Cell>
        </Row>
      ))}
    </Table>
  );
}

const LINK = "inline-flex min-h-6 items-center underline-offset-4 hover:underline";

function History({ view, region }: { view: DeadLetterGroupView; region: Region }) {
  if (view.history.length === 0) return <p className="text-faint text-table">Nothing yet.</p>;
  return (
    <>
      <ol className="grid gap-2 text-table">
        {view.history.map((event) => (
          <li key={event.id} className="break-words">
            <Timestamp iso={event.at} named plain /> · {actorWords(event.actor)} ·{" "}
            <span className="font-medium">{event.action.split(".").at(-1)?.replaceAll("_", " ")}</span>
            <span className="block text-muted">
              {event.reason}
              {event.ticket === null ? null : ` (${event.ticket})`}
            </span>
          </li>
        ))}
      </ol>
      <p className="mt-2">
        <Link
          href={`/audit?region=${region}&target=${view.id}`}
          prefetch={false}
          className={`${LINK} text-accent text-table`}
        >
          All of it in the audit
        </Link>
      </p>
    </>
  );
}
