"use client";
/** The dead letters of one region: what waits for a person, and why. Nothing on this page removes one. */
import type { ReactNode } from "react";
import { ScopeSelects } from "#components/deliveries/scope-selects.tsx";
import type { DeliveryFilters } from "#components/deliveries/use-delivery-filters.ts";
import { useDeadLetters, useScope } from "#components/queries/deliveries.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { Select } from "#components/ui/select.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import { DEAD_REASON_WORDS } from "#components/ui/words.ts";
import type { DeadLetterPage, DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DEAD_REASONS } from "#domain/delivery.ts";
import { formatAge } from "#domain/queue-age.ts";
import { DeadLettersTable } from "./dead-letters-table.tsx";
import { DEAD_LETTER_PARAMETERS, useDeadLetterFilters } from "./use-dead-letter-filters.ts";

const NO_ROWS: readonly DeadLetterRow[] = [];
const keyOf = (row: DeadLetterRow) => row.id;
const REASON_OPTIONS = [
  { value: "", label: "Any reason" },
  ...DEAD_REASONS.map((value) => ({ value, label: DEAD_REASON_WORDS[value] })),
];

/** Filters come from the address, rows from the API. */
export function DeadLettersPage() {
  const list = useDeadLetterFilters();
  const query = useDeadLetters(list.filters);
  const stale = useBehind();
  const answer = query.data;
  const page = answer?.status === "ok" ? answer : null;
  const { rows, added, release, hold } = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(list.filters),
  );
  const next = page?.data.next ?? null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <FilterBar {...list} />
      <DroppedChips known={DEAD_LETTER_PARAMETERS} />
      <div {...hold}>
        <ListPanel
          title={`Dead letters in ${list.region.toUpperCase()}`}
          note={
            page ? (
              <>
                latest first, as of <Timestamp iso={page.asOf} form="clock" named />
              </>
            ) : undefined
          }
          stale={stale}
          added={query.isPlaceholderData ? 0 : added}
          onShowAdded={release}
          onNext={next === null ? null : () => list.page(next)}
          onFirst={list.filters.cursor ? () => list.page(null) : null}
        >
          {standIn(query.error, answer, list, () => void query.refetch()) ?? (
            <DeadLettersTable
              rows={page ? rows : null}
              asOf={page?.asOf ?? null}
              busy={query.isPlaceholderData}
            />
          )}
        </ListPanel>
      </div>
    </div>
  );
}

function FilterBar({ region, filters, narrowed, set, clear }: DeliveryFilters) {
  const scope = useScope(region);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Select
        label="Reason"
        value={filters.reason ?? ""}
        options={REASON_OPTIONS}
        onChange={(value) => set({ reason: value || null })}
      />
      <ScopeSelects
        scope={scope.data?.status === "ok" ? scope.data.data : null}
        tenant={filters.tenant ?? null}
        destination={filters.destination ?? null}
        onChange={set}
      />
      {narrowed ? (
        <Button variant="quiet" onClick={clear}>
          Clear filters
        </Button>
      ) : null}
    </search>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<DeadLetterPage> | undefined,
  list: DeliveryFilters,
  retry: () => void,
): ReactNode {
  if (answer === undefined) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (answer.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`}>
        {answer.detail} Its dead letters are not shown, which does not mean that there are none. The other
        region can be read as usual; this page asks again every 5 s.
      </Notice>
    );
  }
  if (answer.data.rows.length > 0) return null;
  const latest = answer.data.latestDiedAt;
  const lastOne =
    latest === null ? "There has never been one." : `Last one: ${formatAge(ageAt(latest, answer.asOf))} ago.`;
  if (list.narrowed) {
    return (
      <Notice
        kind="no-match"
        title="No dead letter matches"
        actions={<Button onClick={list.clear}>Clear filters</Button>}
      >
        {lastOne}
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No dead letters in this region">
      {lastOne} A delivery ends here when its receiver refuses it, or when its attempts are used up.
    </Notice>
  );
}
