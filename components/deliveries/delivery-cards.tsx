"use client";
/** The list of deliveries on a narrow screen: one card each with the four fields that decide what to do. */
import { CardField, CardSkeletons, Cards, DeliveryCard } from "#components/ui/cards.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { NextCell, StateCell } from "./delivery-cells.tsx";

export interface DeliveryCardsProps {
  /** Null while nothing has been read. */
  rows: readonly DeliveryRow[] | null;
  asOf: string | null;
  busy: boolean;
  caption: string;
}

export function DeliveryCards({ rows, asOf, busy, caption }: DeliveryCardsProps) {
  if (rows === null || asOf === null) return <CardSkeletons className="h-28" />;
  return (
    <Cards caption={caption} busy={busy}>
      {rows.map((row) => (
        <DeliveryCard key={row.id} id={row.id}>
          <CardField label="State">
            <StateCell row={row} asOf={asOf} className="flex-wrap" />
          </CardField>
          <CardField label="Tenant">{row.tenant.name}</CardField>
          <CardField label="Last result">
            {resultText(row.lastOutcome, row.lastStatus) || "not tried"}
          </CardField>
          <CardField label="Next attempt">
            <NextCell row={row} asOf={asOf} />
          </CardField>
        </DeliveryCard>
      ))}
    </Cards>
  );
}
