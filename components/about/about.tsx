"use client";
import type { About } from "#components/queries/shell.ts";
/** What this console is: its build, the schema of each region, its settings without a secret, and its machine-readable doors. */
import { useAbout } from "#components/queries/shell.ts";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { oneOf } from "#components/ui/list-parameters.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { ABOUT_LINKS } from "./links.ts";

const PARAMETERS = { region: oneOf(["us", "eu"]) };
const SCHEMA_COLUMNS: readonly Column[] = [
  { key: "region", label: "Region" },
  { key: "state", label: "Database" },
  { key: "last", label: "Last migration" },
  { key: "at", label: "Applied" },
  { key: "count", label: "Migrations", align: "right" },
  { key: "server", label: "Postgres", align: "right" },
];
const SETTING_COLUMNS: readonly Column[] = [
  { key: "name", label: "Setting" },
  { key: "value", label: "Value" },
];

export function AboutPage() {
  const query = useAbout();
  const about = query.data ?? null;
  if (about === null && query.error !== null) {
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DroppedChips known={PARAMETERS} />
      <Panel title="This console">
        {about === null ? <Skeleton className="h-24" /> : <Build about={about} />}
      </Panel>
      <Panel flush title="Schema" note={about === null ? undefined : schemaNote(about)}>
        {about === null ? <Skeleton className="m-4 h-16" /> : <Schema about={about} />}
      </Panel>
      <Panel flush title="Settings" note="of this process; of what is secret only whether it is set">
        {about === null ? <Skeleton className="m-4 h-64" /> : <Settings about={about} />}
      </Panel>
    </div>
  );
}

function Build({ about }: { about: About }) {
  const facts = [
    ["Version", about.version],
    ["Build", about.build],
    ["Environment", about.environment],
    ["Node", about.node],
  ];
  return (
    <dl className="grid gap-y-1.5">
      {facts.map(([name, value]) => (
        <div key={name} className="flex gap-4">
          <dt className="w-32 text-muted">{name}</dt>
          <dd className="font-mono text-table">{value}</dd>
        </div>
      ))}
      {ABOUT_LINKS.length === 0 ? null : (
        <div className="flex gap-4">
          <dt className="w-32 text-muted">For programs</dt>
          <dd className="flex flex-wrap gap-x-4">
            {ABOUT_LINKS.map(({ href, label }) => (
              <a key={href} href={href} className="text-accent underline-offset-4 hover:underline">
                {label}
              </a>
            ))}
          </dd>
        </div>
      )}
    </dl>
  );
}

/** Regions at different migrations work, but not for long: it is said. */
function schemaNote({ regions }: About): string {
  const known = regions.flatMap((answer) => (answer.status === "ok" ? [answer.data.last] : []));
  return new Set(known).size > 1
    ? "the regions differ: one was not migrated yet"
    : "last migration of each region";
}

function Schema({ about }: { about: About }) {
  return (
    <Table caption="Schema of each region" columns={SCHEMA_COLUMNS}>
      {about.regions.map((answer) => (
        <Row key={answer.region}>
          <HeadCell>{answer.region.toUpperCase()}</HeadCell>
          {answer.status === "ok" ? (
            <>
              <Cell>
                <StatusText tone="ok" label="Answers" />
              </Cell>
              <Cell className="font-mono">{answer.data.last}</Cell>
              <Cell>
                {answer.data.appliedAt === null ? "" : <Timestamp iso={answer.data.appliedAt} named />}
              </Cell>
              <Cell align="right">{answer.data.count}</Cell>
              <Cell align="right">{answer.data.server}</Cell>
            </>
          ) : (
            <>
              <Cell>
                <StatusText tone="danger" label="No answer" />
              </Cell>
              <Cell className="text-muted">{answer.detail}</Cell>
              <Cell />
              <Cell />
              <Cell />
            </>
          )}
        </Row>
      ))}
    </Table>
  );
}

function Settings({ about }: { about: About }) {
  return (
    <Table caption="Settings of the console" columns={SETTING_COLUMNS}>
      {about.settings.map(({ name, value }) => (
        <Row key={name}>
          <HeadCell className="font-mono">{name}</HeadCell>
          <Cell className={value === null ? "text-faint" : "font-mono"}>
            {value ?? "not set: its default holds"}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
