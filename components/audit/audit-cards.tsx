"use client";
/** The audit on a narrow screen: one card each with who, what, to what and why. The action opens a row's difference. */
import { CardField, CardFields, CardSkeletons, Cards } from "#components/ui/cards.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { type AuditTableProps, Target } from "./audit-table.tsx";
import { actionText, RESULT_WORDS, scopeText } from "./audit-words.ts";

export function AuditCards({ rows, asOf, busy, open, onOpen }: AuditTableProps) {
  if (rows === null || asOf === null) return <CardSkeletons className="h-36" />;
  return (
    <Cards caption="Audit, newest first" busy={busy}>
      {rows.map((row) => {
        const result = RESULT_WORDS[row.result];
        return (
          <li key={row.id} className="border-line border-b px-4 py-2 last:border-b-0">
            <div className="flex items-center justify-between gap-3">
              <button
                type="button"
                aria-expanded={open === row.id}
                onClick={() => onOpen(row.id)}
                className="inline-flex min-h-11 min-w-0 items-center break-words text-left font-medium underline underline-offset-4"
              >
                {actionText(row.action)}
              </button>
              <span className="text-muted text-table">
                <NearTimestamp iso={row.at} asOf={asOf} />
              </span>
            </div>
            <CardFields className="pb-1">
              <CardField label="Actor">
                {row.actor} <span className="text-faint">{row.role}</span>
              </CardField>
              <CardField label="Target">
                <Target row={row} /> <span className="text-faint">{scopeText(row)}</span>
              </CardField>
              <CardField label="Result">
                <StatusText tone={result.tone} label={result.label} />
              </CardField>
              <CardField label="Reason">{row.reason}</CardField>
            </CardFields>
          </li>
        );
      })}
    </Cards>
  );
}
