/** The worker processes of a region. None owns anything: the list says who is there, in which version, and with how many slots. */
import { formatCount } from "#components/ui/format.ts";
import { Notice } from "#components/ui/notice.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import type { RegionHealth, RegionWorker } from "#db/console/read-regions.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { WORKER_STATES } from "./region-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "id", label: "Worker" },
  { key: "host", label: "Host" },
  { key: "version", label: "Version" },
  { key: "state", label: "State" },
  { key: "heartbeat", label: "Heartbeat", align: "right" },
  { key: "inFlight", label: "In flight", align: "right" },
  { key: "slots", label: "Limit", align: "right" },
  { key: "started", label: "Started", align: "right" },
];
const TAIL_CHARS = 8;

export interface WorkersTableProps {
  health: RegionHealth;
  region: Region;
  asOf: string;
}

export function WorkersTable({ health, region, asOf }: WorkersTableProps) {
  const name = region.toUpperCase();
  const hidden = health.workerCount - health.workers.length;
  return (
    <div className="min-w-0">
      <h3 className="mb-1.5 font-medium">Workers</h3>
      {health.workers.length === 0 ? (
        <Notice kind="empty" title="No worker is known" compact>
          A worker appears here with its first heartbeat: sluice worker --region {region}.
        </Notice>
      ) : (
        <Table pinned caption={`Workers of ${name}`} columns={COLUMNS}>
          {health.workers.map((worker) => (
            <WorkerLine key={worker.id} worker={worker} asOf={asOf} />
          ))}
        </Table>
      )}
      {hidden > 0 ? (
        <p className="mt-1 text-muted text-table">{formatCount(hidden)} more are not listed.</p>
      ) : null}
    </div>
  );
}

function WorkerLine({ worker, asOf }: { worker: RegionWorker; asOf: string }) {
  const state = WORKER_STATES[worker.state];
  return (
    <Row>
      <HeadCell>
        <span className="font-mono" title={worker.id}>
          {worker.id.slice(-TAIL_CHARS)}
        </span>
      </HeadCell>
      <Cell>
        {worker.host} <span className="text-faint">pid {worker.pid}</span>
      </Cell>
      <Cell>{worker.version}</Cell>
      <Cell>
        <StatusText tone={state.tone} label={state.label} />
      </Cell>
      <Cell align="right">{formatAge(ageAt(worker.heartbeatAt, asOf))} ago</Cell>
      <Cell align="right">{formatCount(worker.inFlight)}</Cell>
      <Cell align="right">{formatCount(worker.slots)}</Cell>
      <Cell align="right">
        <NearTimestamp iso={worker.startedAt} asOf={asOf} />
      </Cell>
    </Row>
  );
}
