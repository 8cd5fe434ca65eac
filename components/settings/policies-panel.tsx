"use client";
/** The policies in force: how deliveries are tried again, what counts as late, and what bounds a replay. */
import { usePolicies } from "#components/queries/shell.ts";
import { useRegions } from "#components/shell/signed-in.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { PoliciesAnswer, PolicyInForce, RegionPolicies } from "#db/console/list-policies.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { objectiveRows, policyRows } from "./policy-words.ts";
import { ReplayPolicyPanel } from "./replay-policy-panel.tsx";

const OBJECTIVE_COLUMNS: readonly Column[] = [
  { key: "what", label: "What" },
  { key: "urgent", label: "Urgent", align: "right" },
  { key: "routine", label: "Routine", align: "right" },
];
const SKELETON_ROWS = 6;

export function PoliciesPanel() {
  const query = usePolicies();
  const regions = useRegions();
  if (query.data === undefined && query.error !== null) {
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Objectives answer={query.data ?? null} />
      {query.data?.regions.map((answer) => (
        <RegionPanel key={answer.region} answer={answer} />
      ))}
      {regions.map((region) => (
        <ReplayPolicyPanel key={region} region={region} />
      ))}
    </div>
  );
}

function Objectives({ answer }: { answer: PoliciesAnswer | null }) {
  return (
    <Panel flush title="Objectives" note="what counts as late, in every region; they belong to the build">
      <Table caption="Objectives by service class" columns={OBJECTIVE_COLUMNS}>
        {answer === null ? (
          <SkeletonRows rows={SKELETON_ROWS} columns={OBJECTIVE_COLUMNS.length} />
        ) : (
          objectiveRows(answer.objectives).map(({ what, urgent, routine }) => (
            <Row key={what}>
              <HeadCell>{what}</HeadCell>
              <Cell align="right">{urgent}</Cell>
              <Cell align="right">{routine}</Cell>
            </Row>
          ))
        )}
      </Table>
    </Panel>
  );
}

function RegionPanel({ answer }: { answer: RegionAnswer<RegionPolicies> }) {
  const title = `Retry policy in ${answer.region.toUpperCase()}`;
  if (answer.status === "unavailable") {
    return (
      <Panel title={title}>
        <Notice kind="unavailable" title="This region's database gives no answer" compact>
          {answer.detail} Its policies are unknown here; workers go by what they have read.
        </Notice>
      </Panel>
    );
  }
  const { policies } = answer.data;
  return (
    <Panel flush title={title} note="of a class; a destination may override parts of it">
      <Table
        caption={`${title}, by service class`}
        columns={[
          { key: "what", label: "What" },
          ...policies.map(({ serviceClass }) => ({
            key: serviceClass,
            label: serviceClass === "urgent" ? "Urgent" : "Routine",
            align: "right" as const,
          })),
        ]}
      >
        <Row>
          <HeadCell>Version</HeadCell>
          {policies.map((policy) => (
            <Cell key={policy.serviceClass} align="right">
              <VersionWords policy={policy} />
            </Cell>
          ))}
        </Row>
        {policyRows(policies).map(({ what, values }) => (
          <Row key={what}>
            <HeadCell>{what}</HeadCell>
            {policies.map(({ serviceClass }, index) => (
              <Cell key={serviceClass} align="right">
                {values[index]}
              </Cell>
            ))}
          </Row>
        ))}
      </Table>
    </Panel>
  );
}

/** Who changed it, when and why; the build's own was changed by nobody. */
function VersionWords({ policy }: { policy: PolicyInForce }) {
  if (policy.version === 0) return "Built in, never changed";
  return (
    <span title={policy.reason ?? undefined}>
      {policy.version}
      {policy.changedBy === null ? "" : ` by ${policy.changedBy}`}
      {policy.changedAt === null ? null : (
        <>
          {", "}
          <Timestamp iso={policy.changedAt} plain />
        </>
      )}
    </span>
  );
}
