"use client";
/**
 * The replay policy of one region: what is in force beside what is built in, its versions, and the way to the next one for
 * whoever administers the whole region. A region that does not answer must not show as the built-in policy.
 */
import { useState } from "react";
import { actorWords } from "#components/controls/conflict-words.ts";
import { useReplayPolicy } from "#components/queries/replays.ts";
import { type SignedIn, useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayPolicyView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { ReplayPolicyDialog } from "./replay-policy-dialog.tsx";
import { historyChanges, replayPolicyRows } from "./replay-policy-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "what", label: "What" },
  { key: "now", label: "In force", align: "right" },
  { key: "builtIn", label: "Built in", align: "right" },
];
const SKELETON_ROWS = 8;

/** Only what the pages offer: the server decides. */
function mayWrite(signedIn: SignedIn | null, region: Region): boolean {
  const roles = signedIn?.roles ?? [];
  return roles.some(
    ({ role, regions, tenants }) => role === "admin" && tenants === null && regions.includes(region),
  );
}

export function ReplayPolicyPanel({ region }: { region: Region }) {
  const query = useReplayPolicy(region);
  const writes = mayWrite(useSignedIn(), region);
  const [open, setOpen] = useState(false);
  const title = `Replay policy in ${region.toUpperCase()}`;
  const answer = query.data;
  if (answer === undefined && query.error !== null) {
    return (
      <Panel title={title}>
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      </Panel>
    );
  }
  if (answer?.status === "unavailable") {
    return (
      <Panel title={title}>
        <Notice kind="unavailable" title="This region's database gives no answer" compact>
          {answer.detail} Its replay policy is unknown here; batches keep what they were frozen with.
        </Notice>
      </Panel>
    );
  }
  const view = answer?.data ?? null;
  return (
    <>
      <Panel
        flush
        title={title}
        note={
          writes
            ? "limits and stop conditions of every batch"
            : "limits and stop conditions of every batch; an administrator of the whole region writes them"
        }
        stale={query.isRefetchError}
        actions={
          writes && view !== null ? <Button onClick={() => setOpen(true)}>Change policy</Button> : null
        }
      >
        <InForce title={title} view={view} />
        {view === null || view.version === 0 ? null : <History title={title} view={view} />}
      </Panel>
      {open && view !== null ? (
        <ReplayPolicyDialog
          region={region}
          view={view}
          onReload={async () => {
            const { data } = await query.refetch();
            return data?.status === "ok" ? data.data : null;
          }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

function InForce({ title, view }: { title: string; view: ReplayPolicyView | null }) {
  return (
    <Table caption={`${title}, in force`} columns={COLUMNS}>
      {view === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        <>
          <Row>
            <HeadCell>Version</HeadCell>
            <Cell align="right">
              <VersionWords view={view} />
            </Cell>
            <Cell align="right" />
          </Row>
          {replayPolicyRows(view).map(({ what, now, builtIn }) => (
            <Row key={what}>
              <HeadCell>{what}</HeadCell>
              <Cell align="right" className={now === builtIn ? undefined : "font-medium"}>
                {now}
              </Cell>
              <Cell align="right" className="text-muted">
                {builtIn}
              </Cell>
            </Row>
          ))}
        </>
      )}
    </Table>
  );
}

/** Who wrote it is only told to those who see the region as a whole. */
function VersionWords({ view: { version, changedBy, changedAt } }: { view: ReplayPolicyView }) {
  if (version === 0) return "Built in, never changed";
  return (
    <>
      {version}
      {changedBy === null ? "" : ` by ${actorWords(changedBy)}`}
      {changedAt === null ? null : (
        <>
          {", "}
          <Timestamp iso={changedAt} plain />
        </>
      )}
    </>
  );
}

function History({ title, view }: { title: string; view: ReplayPolicyView }) {
  const changes = historyChanges(view);
  if (view.history.length === 0) {
    return (
      <p className="border-line border-t px-4 py-3 text-muted text-table">
        Its versions are shown to those who see the region as a whole.
      </p>
    );
  }
  const older = (view.history.at(-1)?.version ?? 1) > 1;
  return (
    <div className="border-line border-t px-4 py-3">
      <h3 className="font-medium text-table">Versions</h3>
      <ol aria-label={`Versions of the ${title.toLowerCase()}`} className="mt-2 grid gap-3 text-table">
        {view.history.map(({ version, changedBy, changedAt, reason }, index) => (
          <li key={version} className="grid min-w-0 gap-0.5">
            <p className="break-words">
              <span className="font-medium">Version {version}</span> by {actorWords(changedBy)},{" "}
              <Timestamp iso={changedAt} plain />
            </p>
            <p className="break-words">{whatChanged(changes[index] ?? null)}</p>
            <p className="break-words text-muted">{reason}</p>
          </li>
        ))}
      </ol>
      {older ? <p className="mt-3 text-muted text-table">Older versions stand in the audit.</p> : null}
    </div>
  );
}

function whatChanged(changes: readonly string[] | null): string {
  if (changes === null) return "What it changed is not known here: the version before it is not listed.";
  return changes.length === 0 ? "No number was changed." : changes.join("; ");
}
