"use client";
/** The next version of a class's retry policy. What cannot be laid under a destination's own override the server refuses. */
import { useState } from "react";
import { Warning } from "#components/controls/dialog-parts.tsx";
import { TextField } from "#components/ui/field.tsx";
import type { PolicyInForce } from "#db/console/list-policies.ts";
import type { RetryPolicy } from "#domain/policy.ts";
import type { Region } from "#domain/region.ts";
import { useSeen } from "./objectives-dialog.tsx";
import { NumberGroups, PolicyDialog } from "./policy-dialog.tsx";
import {
  flatRetry,
  NOTHING_TYPED,
  RETRY_FIELDS,
  RETRY_GROUPS,
  type RetryTyped,
  retryChanges,
  scheduleProblem,
  scheduleText,
  statusesProblem,
  statusesText,
} from "./retry-words.ts";

export interface RetryDialogProps {
  region: Region;
  policy: PolicyInForce;
  /** Null when there is no answer. */
  onReload: () => Promise<PolicyInForce | null>;
  onClose: () => void;
}

const MAX_LIST_CHARS = 600;

const EFFECTS = [
  "It holds for every decision from now on, also for deliveries that wait already. A failure that has reached the new count is the last one.",
  "Due times that were decided before stay. A destination's own override still lies over it.",
  "Workers read the lease and its margin when they start; the deadline of a request never reaches past the lease that they run by.",
];

export function RetryDialog({ region, policy, onReload, onClose }: RetryDialogProps) {
  const { seen, reload } = useSeen(policy, onReload);
  const [typed, setTyped] = useState<RetryTyped>(NOTHING_TYPED);
  const { serviceClass } = policy;
  // A stored policy that cannot be used is mended from what is built in.
  const inForce = seen.retry ?? seen.builtIn;
  const { changes, problem } = retryChanges(typed, inForce);
  const name = region.toUpperCase();
  return (
    <PolicyDialog
      title={`Change the ${serviceClass} retry policy of ${name}`}
      region={region}
      path={`/api/v1/policies/retry?region=${region}`}
      version={seen.version}
      body={{ serviceClass, retry: changes }}
      problem={problem}
      effects={EFFECTS}
      doneWords={(version) => `Version ${version} of the ${serviceClass} retry policy of ${name}`}
      onReload={reload}
      onClose={onClose}
    >
      {seen.retry === null ? (
        <Warning>
          What is stored cannot be used: deliveries of this class die. The numbers below are the built-in
          ones.
        </Warning>
      ) : null}
      <NumberGroups
        specs={RETRY_FIELDS}
        groups={RETRY_GROUPS}
        inForce={flatRetry(inForce)}
        typed={typed.numbers}
        onChange={(numbers) => setTyped({ ...typed, numbers })}
      />
      <ListFields inForce={inForce} typed={typed} onChange={setTyped} />
    </PolicyDialog>
  );
}

interface ListFieldsProps {
  inForce: RetryPolicy;
  typed: RetryTyped;
  onChange: (typed: RetryTyped) => void;
}

function ListFields({ inForce, typed, onChange }: ListFieldsProps) {
  return (
    <fieldset className="grid min-w-0 items-start gap-4 rounded-md border border-line px-3 py-3 sm:grid-cols-2">
      <legend className="px-1 font-medium text-table">Instead of the backoff, and statuses</legend>
      <TextField
        label="Fixed waits, in seconds"
        hint="The wait after each failure in turn, such as 5, 30, 120. Empty: the backoff."
        value={typed.schedule ?? scheduleText(inForce)}
        onChange={(schedule) => onChange({ ...typed, schedule })}
        error={scheduleProblem(typed.schedule)}
        maxLength={MAX_LIST_CHARS}
        mono
      />
      <TextField
        label="Statuses that also count as rejections"
        hint="Such as 501, 505. Other 4xx are rejections anyway."
        value={typed.statuses ?? statusesText(inForce)}
        onChange={(statuses) => onChange({ ...typed, statuses })}
        error={statusesProblem(typed.statuses)}
        maxLength={MAX_LIST_CHARS}
        mono
      />
    </fieldset>
  );
}
