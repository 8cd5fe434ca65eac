"use client";
/**
 * What counts as late in one region: in force beside what is built in, its versions, and the way to the next one for whoever
 * administers the whole region.
 */
import { useState } from "react";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { ObjectivesInForce, RegionPolicies } from "#db/console/list-policies.ts";
import type { Region } from "#domain/region.ts";
import { administersRegion } from "./administers.ts";
import { objectiveHistory, objectiveRows } from "./objective-words.ts";
import { ObjectivesDialog } from "./objectives-dialog.tsx";
import { VersionLine, Versions } from "./policy-parts.tsx";

const COLUMNS: readonly Column[] = [
  { key: "what", label: "What" },
  { key: "now", label: "In force", align: "right" },
  { key: "builtIn", label: "Built in", align: "right" },
];

export interface RegionPolicyProps {
  region: Region;
  stale: boolean;
  /** Reads the policies again; null when there is no answer. */
  onReload: () => Promise<RegionPolicies | null>;
}

export function ObjectivesPanel({
  region,
  objectives,
  stale,
  onReload,
}: RegionPolicyProps & { objectives: ObjectivesInForce }) {
  const writes = administersRegion(useSignedIn(), region);
  const [open, setOpen] = useState(false);
  const title = `Objectives in ${region.toUpperCase()}`;
  return (
    <>
      <Panel
        flush
        title={title}
        note={
          writes
            ? "what counts as late"
            : "what counts as late; an administrator of the whole region writes them"
        }
        stale={stale}
        actions={writes ? <Button onClick={() => setOpen(true)}>Change objectives</Button> : null}
      >
        <VersionLine policy={objectives} />
        <Table caption={`${title}, in force`} columns={COLUMNS}>
          {objectiveRows(objectives).map(({ what, now, builtIn }) => (
            <Row key={what}>
              <HeadCell wrap>{what}</HeadCell>
              <Cell align="right" className={now === builtIn ? undefined : "font-medium"}>
                {now}
              </Cell>
              <Cell align="right" className="text-muted">
                {builtIn}
              </Cell>
            </Row>
          ))}
        </Table>
        <Versions
          label={`Versions of the objectives in ${region.toUpperCase()}`}
          policy={objectives}
          changes={objectiveHistory(objectives)}
        />
      </Panel>
      {open ? (
        <ObjectivesDialog
          region={region}
          objectives={objectives}
          onReload={async () => (await onReload())?.objectives ?? null}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
