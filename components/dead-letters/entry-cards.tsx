"use client";
/** Dead letters on a narrow screen: one card each with the fields that decide what to do. */
import { CardField, CardSkeletons, Cards, DeliveryCard } from "#components/ui/cards.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { formatAge } from "#domain/queue-age.ts";
import { ReasonCell } from "./cause-cells.tsx";
import { codeText } from "./cause-words.ts";
import { type DeadLettersTableProps, PayloadCell } from "./dead-letters-table.tsx";

export function EntryCards({ caption, rows, asOf, busy }: DeadLettersTableProps) {
  if (rows === null || asOf === null) return <CardSkeletons className="h-28" />;
  return (
    <Cards caption={caption} busy={busy}>
      {rows.map((row) => (
        <DeliveryCard key={row.id} id={row.id}>
          <CardField label="Reason">
            <ReasonCell row={row} /> {codeText(row)}
          </CardField>
          <CardField label="Where">
            {row.tenant.name}: {row.destination.name}
          </CardField>
          <CardField label="Age">{formatAge(ageAt(row.diedAt, asOf))}</CardField>
          <CardField label="Payload until">
            <PayloadCell row={row} asOf={asOf} />
          </CardField>
        </DeliveryCard>
      ))}
    </Cards>
  );
}
