"use client";
import { useScope } from "#components/queries/deliveries.ts";
import { Button } from "#components/ui/button.tsx";
/** The filters of the delivery list. Every change goes into the page's address. */
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { STATE_WORDS } from "#components/ui/words.ts";
import { SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import { ScopeSelects } from "./scope-selects.tsx";
import type { DeliveryFilters } from "./use-delivery-filters.ts";

const STATE_OPTIONS = [
  { value: "", label: "Any state" },
  ...STATES.map((value) => ({ value, label: STATE_WORDS[value].label })),
];
const CLASS_OPTIONS = [
  { value: "", label: "Any class" },
  ...SERVICE_CLASSES.map((value) => ({ value, label: value === "urgent" ? "Urgent" : "Routine" })),
];

/** Search by id or key on the left, choices beside it. */
export function DeliveryFilterBar({ region, filters, narrowed, set, clear }: DeliveryFilters) {
  const scope = useScope(region);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchField
        key={filters.q ?? ""}
        label="Delivery id or idempotency key, exact"
        value={filters.q ?? ""}
        onSubmit={(q) => set({ q: q === "" ? null : q })}
      />
      <Select
        label="State"
        value={filters.state ?? ""}
        options={STATE_OPTIONS}
        onChange={(value) => set({ state: value || null })}
      />
      <Select
        label="Class"
        value={filters.class ?? ""}
        options={CLASS_OPTIONS}
        onChange={(value) => set({ class: value || null })}
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
