"use client";
/** The next version of what counts as late in a region. It says what gets less strict before it is sent. */
import { useState } from "react";
import { Warning } from "#components/controls/dialog-parts.tsx";
import type { ObjectivesInForce } from "#db/console/list-policies.ts";
import type { ObjectiveName } from "#domain/objectives.ts";
import type { Region } from "#domain/region.ts";
import { OBJECTIVE_FIELDS, OBJECTIVE_GROUPS, objectiveChanges } from "./objective-words.ts";
import { NumberGroups, PolicyDialog } from "./policy-dialog.tsx";
import type { Typed } from "./policy-numbers.ts";

export interface ObjectivesDialogProps {
  region: Region;
  objectives: ObjectivesInForce;
  /** Null when there is no answer. */
  onReload: () => Promise<ObjectivesInForce | null>;
  onClose: () => void;
}

const EFFECTS = [
  "The verdict, the tables, the charts and the metrics of this region judge by it from the next read on.",
  "What already waits is judged by it too. Nothing is sent earlier or later because of it.",
];

export function ObjectivesDialog({ region, objectives, onReload, onClose }: ObjectivesDialogProps) {
  const { seen, reload } = useSeen(objectives, onReload);
  const [typed, setTyped] = useState<Typed<ObjectiveName>>({});
  const { changes, problem, looser } = objectiveChanges(typed, seen.numbers);
  const name = region.toUpperCase();
  return (
    <PolicyDialog
      title={`Change the objectives of ${name}`}
      region={region}
      path={`/api/v1/policies/objectives?region=${region}`}
      version={seen.version}
      body={{ objectives: changes }}
      problem={problem}
      effects={EFFECTS}
      doneWords={(version) => `Version ${version} of the objectives of ${name}`}
      onReload={reload}
      onClose={onClose}
    >
      <NumberGroups
        specs={OBJECTIVE_FIELDS}
        groups={OBJECTIVE_GROUPS}
        inForce={seen.numbers}
        typed={typed}
        onChange={setTyped}
      />
      {looser.length > 0 ? (
        <Warning>
          Less strict in {name}: {looser.join("; ")}.
        </Warning>
      ) : null}
    </PolicyDialog>
  );
}

/**
 * What was shown when the dialog opened is what it is about, until the person asks for the newest: a version that arrives
 * while somebody types must not slip under what they decide.
 */
export function useSeen<Policy>(
  shown: Policy,
  read: () => Promise<Policy | null>,
): { seen: Policy; reload: () => Promise<boolean> } {
  const [seen, setSeen] = useState(shown);
  return {
    seen,
    async reload() {
      const fresh = await read();
      if (fresh !== null) setSeen(fresh);
      return fresh !== null;
    },
  };
}
