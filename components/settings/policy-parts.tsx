/** What every policy's panel says of its versions: who wrote them, when, why, and what each changed. */
import { actorWords } from "#components/ui/actor-words.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { PolicyVersion } from "#db/console/list-policies.ts";

interface Written {
  version: number;
  changedBy: string | null;
  changedAt: string | null;
  history: readonly Omit<PolicyVersion, "body">[];
}

/** Above the numbers, so that their columns stay narrow. Who wrote it is only told to those who see the whole region. */
export function VersionLine({ of, policy }: { of?: string; policy: Written }) {
  return (
    <p className="break-words px-4 pt-2 text-muted text-table last-of-type:pb-2">
      {of === undefined ? null : `${of}: `}
      <VersionWords policy={policy} />
    </p>
  );
}

function VersionWords({ policy: { version, changedBy, changedAt } }: { policy: Written }) {
  if (version === 0) return "Built in, never changed";
  return (
    <>
      Version {version}
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

export interface VersionsProps {
  /** "Versions of the objectives in US". */
  label: string;
  policy: Written;
  changes: readonly (readonly string[] | null)[];
}

/** Nothing for a policy that nobody has changed. */
export function Versions({ label, policy, changes }: VersionsProps) {
  if (policy.version === 0) return null;
  if (policy.history.length === 0) {
    return (
      <p className="border-line border-t px-4 py-3 text-muted text-table">
        {label} are shown to those who see the region as a whole.
      </p>
    );
  }
  const older = (policy.history.at(-1)?.version ?? 1) > 1;
  return (
    <div className="border-line border-t px-4 py-3">
      <h3 className="font-medium text-table">{label}</h3>
      <ol aria-label={label} className="mt-2 grid gap-3 text-table">
        {policy.history.map(({ version, changedBy, changedAt, reason }, index) => (
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
