"use client";
/** The destinations on a narrow screen. */
import { Card, CardField, CardSkeletons, Cards } from "#components/ui/cards.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { resultText } from "#components/ui/words.ts";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";
import type { Region } from "#domain/region.ts";
import { DestinationStateMark } from "./destination-state.tsx";
import { concurrencyText, successText } from "./health-words.ts";

export interface DestinationCardsProps {
  region: Region;
  /** Null while nothing has been read. */
  rows: readonly DestinationHealth[] | null;
  asOf: string | null;
  busy: boolean;
}

export function DestinationCards({ region, rows, asOf, busy }: DestinationCardsProps) {
  if (rows === null || asOf === null) return <CardSkeletons />;
  return (
    <Cards caption={`Destinations in ${region.toUpperCase()}`} busy={busy}>
      {rows.map((row) => (
        <Card
          key={row.id}
          name={row.name}
          href={`/destinations/${row.id}?region=${region}`}
          aside={row.tenant.name}
        >
          <CardField label="Host">
            <span className="break-all font-mono">{row.host}</span>
          </CardField>
          <CardField label="State">
            <span className="inline-flex flex-wrap">
              <DestinationStateMark destination={row} asOf={asOf} />
            </span>
          </CardField>
          <CardField label="Success, 24 h">
            {row.success.requests === 0 ? "no request" : successText(row.success)}
          </CardField>
          <CardField label="Last result">
            {row.last === null
              ? "no attempt yet"
              : `${resultText(row.last.outcome, row.last.status)}, ${relativeTo(row.last.at, asOf)}`}
          </CardField>
          <CardField label="In flight / limit">{concurrencyText(row)}</CardField>
        </Card>
      ))}
    </Cards>
  );
}
