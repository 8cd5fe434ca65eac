"use client";
/** The next version of a region's replay policy. It says what gets looser for everybody before it is sent. */
import { useState } from "react";
import { Warning } from "#components/controls/dialog-parts.tsx";
import { replayPolicyApiPath } from "#components/queries/replays.ts";
import { CheckField } from "#components/ui/field-choice.tsx";
import type { ReplayPolicyView } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { useSeen } from "./objectives-dialog.tsx";
import { NumberGroups, PolicyDialog } from "./policy-dialog.tsx";
import {
  AUTO_LABEL,
  COURSE_TITLE,
  NOTHING_TYPED,
  POLICY_FIELDS,
  POLICY_GROUPS,
  type PolicyTyped,
  replayPolicyChanges,
} from "./replay-policy-words.ts";

export interface ReplayPolicyDialogProps {
  region: Region;
  view: ReplayPolicyView;
  /** Reads the policy again; null when there is no answer. */
  onReload: () => Promise<ReplayPolicyView | null>;
  onClose: () => void;
}

const EFFECTS = [
  "A batch keeps the stop conditions that it was frozen with.",
  "Spans of review, holds and the ramp count at once, also for batches that run.",
];

export function ReplayPolicyDialog({ region, view, onReload, onClose }: ReplayPolicyDialogProps) {
  const { seen, reload } = useSeen(view, onReload);
  const [typed, setTyped] = useState<PolicyTyped>(NOTHING_TYPED);
  const { policy } = seen;
  const { changes, problem, looser } = replayPolicyChanges(typed, policy);
  const name = region.toUpperCase();
  return (
    <PolicyDialog
      title={`Change the replay policy of ${name}`}
      region={region}
      path={replayPolicyApiPath(region)}
      version={seen.version}
      body={{ policy: changes }}
      problem={problem}
      effects={EFFECTS}
      doneWords={(version) => `Version ${version} of the replay policy of ${name}`}
      onReload={reload}
      onClose={onClose}
    >
      <NumberGroups
        specs={POLICY_FIELDS}
        groups={POLICY_GROUPS}
        inForce={policy}
        typed={typed.numbers}
        onChange={(numbers) => setTyped({ ...typed, numbers })}
        below={{
          [COURSE_TITLE]: (
            <CheckField
              label={AUTO_LABEL}
              hint={`Now: ${policy.canaryAuto ? "yes" : "no"}`}
              checked={typed.canaryAuto ?? policy.canaryAuto}
              onChange={(canaryAuto) => setTyped({ ...typed, canaryAuto })}
            />
          ),
        }}
      />
      {looser.length > 0 ? (
        <Warning>
          Looser for every new batch in {name}: {looser.join(", ")}.
        </Warning>
      ) : null}
    </PolicyDialog>
  );
}
