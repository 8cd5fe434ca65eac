"use client";
/** The tenants on a narrow screen. */
import { Card, CardField, CardSkeletons, Cards } from "#components/ui/cards.tsx";
import type { TenantList, TenantRow } from "#db/console/list-tenants.ts";
import { DeadCell, DueCell, FirstAttemptCell, HeldCell } from "./tenant-cells.tsx";
import { TenantStateMark } from "./tenant-state.tsx";

export interface TenantCardsProps {
  /** Null while nothing has been read. */
  rows: readonly TenantRow[] | null;
  list: TenantList | null;
  busy: boolean;
}

export function TenantCards({ rows, list, busy }: TenantCardsProps) {
  if (rows === null || list === null) return <CardSkeletons />;
  return (
    <Cards caption="Tenants by region" busy={busy}>
      {rows.map((row) => (
        <Card
          key={`${row.region}:${row.id}`}
          name={row.name}
          href={`/tenants/${row.id}?region=${row.region}`}
          aside={row.region.toUpperCase()}
        >
          <CardField label="State">
            <TenantStateMark state={row.state} until={row.stateUntil} />
          </CardField>
          <CardField label="First attempt, oldest">
            <FirstAttemptCell row={row} list={list} />
          </CardField>
          <CardField label="Due, oldest">
            <DueCell row={row} list={list} />
          </CardField>
          <CardField label="Held">
            <HeldCell row={row} />
          </CardField>
          <CardField label="Dead letters">
            <DeadCell row={row} />
          </CardField>
        </Card>
      ))}
    </Cards>
  );
}
