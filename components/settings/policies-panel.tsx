"use client";
/** The policies in force: what counts as late, how deliveries are tried again, and what bounds a replay. */
import { usePolicies } from "#components/queries/shell.ts";
import { useRegions } from "#components/shell/signed-in.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { type Column, Table } from "#components/ui/table.tsx";
import type { RegionPolicies } from "#db/console/list-policies.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { ObjectivesPanel } from "./objectives-panel.tsx";
import { ReplayPolicyPanel } from "./replay-policy-panel.tsx";
import { RetryPanel } from "./retry-panel.tsx";

const SKELETON_COLUMNS: readonly Column[] = [
  { key: "what", label: "What" },
  { key: "now", label: "In force", align: "right" },
];
const SKELETON_ROWS = 6;

export function PoliciesPanel() {
  const query = usePolicies();
  const regions = useRegions();
  if (query.data === undefined && query.error !== null) {
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  }
  const answers = query.data?.regions ?? null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {answers === null ? (
        <Panel flush title="Objectives">
          <Table caption="Objectives" columns={SKELETON_COLUMNS}>
            <SkeletonRows rows={SKELETON_ROWS} columns={SKELETON_COLUMNS.length} />
          </Table>
        </Panel>
      ) : (
        answers.map((answer) => (
          <RegionPanels
            key={answer.region}
            answer={answer}
            stale={query.isRefetchError}
            onReload={async () => {
              const { data } = await query.refetch();
              const fresh = data?.regions.find(({ region }) => region === answer.region);
              return fresh?.status === "ok" ? fresh.data : null;
            }}
          />
        ))
      )}
      {regions.map((region) => (
        <ReplayPolicyPanel key={region} region={region} />
      ))}
    </div>
  );
}

interface RegionPanelsProps {
  answer: RegionAnswer<RegionPolicies>;
  stale: boolean;
  onReload: () => Promise<RegionPolicies | null>;
}

function RegionPanels({ answer, stale, onReload }: RegionPanelsProps) {
  const { region } = answer;
  if (answer.status === "unavailable") {
    return (
      <Panel title={`Objectives and retry policy in ${region.toUpperCase()}`}>
        <Notice kind="unavailable" title="This region's database gives no answer" compact>
          {answer.detail} Its policies are unknown here; workers go by what they have read.
        </Notice>
      </Panel>
    );
  }
  const { objectives, policies } = answer.data;
  const shared = { region, stale, onReload };
  return (
    <>
      <ObjectivesPanel {...shared} objectives={objectives} />
      <RetryPanel {...shared} policies={policies} />
    </>
  );
}
