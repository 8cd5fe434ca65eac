"use client";
/**
 * The replay policy of one region: what is in force beside what is built in, its versions, and the way to the next one for
 * whoever administers the whole region. A region that does not answer must not show as the built-in policy.
 */
import { useState } from "react";
import { useReplayPolicy } from "#components/queries/replays.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { ReplayPolicyView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { administersRegion } from "./administers.ts";
import { VersionLine, Versions } from "./policy-parts.tsx";
import { ReplayPolicyDialog } from "./replay-policy-dialog.tsx";
import { replayPolicyHistory, replayPolicyRows } from "./replay-policy-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "what", label: "What" },
  { key: "now", label: "In force", align: "right" },
  { key: "builtIn", label: "Built in", align: "right" },
];
const SKELETON_ROWS = 8;

export function ReplayPolicyPanel({ region }: { region: Region }) {
  const query = useReplayPolicy(region);
  const writes = administersRegion(useSignedIn(), region);
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
        {view === null ? null : <VersionLine policy={view} />}
        <InForce title={title} view={view} />
        {view === null ? null : (
          <Versions
            label={`Versions of the replay policy in ${region.toUpperCase()}`}
            policy={view}
            changes={replayPolicyHistory(view)}
          />
        )}
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
        replayPolicyRows(view).map(({ what, now, builtIn }) => (
          <Row key={what}>
            <HeadCell wrap>{what}</HeadCell>
            <Cell align="right" className={now === builtIn ? undefined : "font-medium"}>
              {now}
            </Cell>
            <Cell align="right" className="text-muted">
              {builtIn}
            </Cell>
          </Row>
        ))
      )}
    </Table>
  );
}
