"use client";
/** The newest deliveries and dead letters of one tenant or destination, and the way to the whole list. */
import Link from "next/link";
import type { ReactNode } from "react";
import { DeadLettersTable } from "#components/dead-letters/dead-letters-table.tsx";
import { DeliveryCards } from "#components/deliveries/delivery-cards.tsx";
import { useDeadLetterEntries } from "#components/queries/dead-letters.ts";
import { type Filters, useDeliveries } from "#components/queries/deliveries.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import { RecentDeliveriesTable, type RecentDeliveriesTableProps } from "./recent-deliveries-table.tsx";

/** Rows shown here; the list has all. */
const ROWS = "25";
const NO_ROWS: readonly never[] = [];
const keyOf = ({ id }: { id: string }) => id;

interface RecentProps {
  region: Region;
  /** `tenant`, `destination`: as the list takes them. */
  filters: Filters;
}

export function RecentDeliveries({ region, filters }: RecentProps) {
  const query = useDeliveries({ region, ...filters, limit: ROWS });
  const page = query.data?.status === "ok" ? query.data : null;
  const settled = useSettledRows(page?.data.rows ?? NO_ROWS, keyOf, JSON.stringify([region, filters]));
  return (
    <div {...settled.hold}>
      <Frame title="Newest deliveries" href={`/deliveries?${addressOf(region, filters)}`}>
        {standIn(query.error, query.data, "delivery", () => void query.refetch()) ?? (
          <Deliveries
            rows={page ? settled.rows : null}
            asOf={page?.asOf ?? null}
            busy={query.isPlaceholderData}
            caption="Deliveries, newest first"
          />
        )}
      </Frame>
    </div>
  );
}

/** Without ticks and side panel: those belong to the whole list. */
function Deliveries(props: RecentDeliveriesTableProps) {
  return useNarrow() ? <DeliveryCards {...props} /> : <RecentDeliveriesTable {...props} />;
}

export function RecentDeadLetters({ region, filters }: RecentProps) {
  const query = useDeadLetterEntries({ region, ...filters, limit: ROWS }, true);
  const page = query.data?.status === "ok" ? query.data : null;
  const settled = useSettledRows(page?.data.rows ?? NO_ROWS, keyOf, JSON.stringify([region, filters]));
  return (
    <div {...settled.hold}>
      <Frame title="Latest dead letters" href={`/dead-letters?${addressOf(region, filters)}&view=entries`}>
        {standIn(query.error, query.data, "dead letter", () => void query.refetch()) ?? (
          <DeadLettersTable
            caption="Dead letters, latest first"
            region={region}
            rows={page ? settled.rows : null}
            asOf={page?.asOf ?? null}
            busy={query.isPlaceholderData}
          />
        )}
      </Frame>
    </div>
  );
}

function Frame({ title, href, children }: { title: string; href: string; children: ReactNode }) {
  const stale = useBehind();
  return (
    <Panel
      flush
      title={title}
      note={`at most ${ROWS}`}
      stale={stale}
      actions={
        <Link href={href} prefetch={false} className="font-medium text-accent text-table hover:underline">
          Open the whole list
        </Link>
      }
    >
      {children}
    </Panel>
  );
}

function addressOf(region: Region, filters: Filters): string {
  const query = new URLSearchParams({ region });
  for (const [name, value] of Object.entries(filters)) if (value !== null) query.set(name, value);
  return query.toString();
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<{ rows: readonly unknown[] }> | undefined,
  what: string,
  retry: () => void,
): ReactNode {
  if (answer === undefined)
    return error === null ? null : <ErrorNotice error={error} onRetry={retry} compact />;
  if (answer.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`} compact>
        {answer.detail}
      </Notice>
    );
  }
  return answer.data.rows.length > 0 ? null : <Notice kind="empty" title={`No ${what}`} compact />;
}
