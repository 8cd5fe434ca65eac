/** What the table, the cards and the panel of causes write alike. */
import { cx } from "#components/ui/cx.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import { DEAD_REASON_WORDS } from "#components/ui/words.ts";
import type { DeadLetterGroupRow } from "#db/console/list-dead-letter-groups.ts";
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import { CLASS_WORDS, codeText, GROUP_STATE_WORDS } from "./cause-words.ts";

export function ClassCell({ row }: { row: Pick<DeadLetterGroupRow, "reasonClass"> }) {
  const { tone, label, icon } = CLASS_WORDS[row.reasonClass];
  return <StatusText tone={tone} label={label} icon={icon} />;
}

export function CodeCell({ row }: { row: DeadLetterGroupRow }) {
  return (
    <span className={cx(row.errorCode !== null && row.lastStatus === null && "font-mono text-axis")}>
      {codeText(row)}
    </span>
  );
}

export function StateCell({ row }: { row: Pick<DeadLetterGroupRow, "state"> }) {
  const { tone, label } = GROUP_STATE_WORDS[row.state];
  return <StatusText tone={tone} label={label} />;
}

/** The entries, and how many of them will not be sent again. */
export function CountCell({ row }: { row: DeadLetterGroupRow }) {
  return (
    <>
      <span className="font-medium">
        {formatCount(row.count)}
        {row.more ? "+" : ""}
      </span>
      {row.willNotReplay > 0 ? (
        <span className="block text-axis text-faint">
          {formatCount(row.willNotReplay)} will not be replayed
        </span>
      ) : null}
    </>
  );
}

/** One is named, several are counted. */
export function TenantsCell({ row }: { row: DeadLetterGroupRow }) {
  return row.tenants > 1 ? plural(row.tenants, "tenant") : row.tenant.name;
}

export function DestinationCell({ row }: { row: DeadLetterGroupRow }) {
  if (row.destinations > 1) return plural(row.destinations, "destination");
  return (
    <>
      {row.destination.name}
      <span className="block max-w-36 truncate text-axis text-faint" title={row.destination.host}>
        {row.destination.host}
      </span>
    </>
  );
}

/** The reason of one entry with the icon and the hue of its class. */
export function ReasonCell({
  row,
}: {
  row: Pick<DeadLetterRow, "reason" | "reasonClass" | "willNotReplay" | "willNotReplayReason">;
}) {
  const { tone, icon } = CLASS_WORDS[row.reasonClass];
  return (
    <>
      <StatusText tone={tone} icon={icon} label={DEAD_REASON_WORDS[row.reason]} />
      {row.willNotReplay ? (
        <span className="text-faint" title={row.willNotReplayReason ?? undefined}>
          {" "}
          (will not be replayed)
        </span>
      ) : null}
    </>
  );
}
