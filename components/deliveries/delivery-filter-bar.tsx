"use client";
/** The filters of the delivery list. Every change goes into the page's address. */
import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { useScope } from "#components/queries/deliveries.ts";
import { SavedViews } from "#components/shell/saved-views.tsx";
import { Button } from "#components/ui/button.tsx";
import { countUsed, FilterBar } from "#components/ui/filter-bar.tsx";
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { CLASS_OPTIONS, MORE_FILTERS, SORT_OPTIONS, STATE_OPTIONS } from "./filter-options.ts";
import { MoreFilters } from "./more-filters.tsx";
import { ScopeSelects } from "./scope-selects.tsx";
import type { DeliveryFilters } from "./use-delivery-filters.ts";

const COMMON_FILTERS = ["state", "class", "tenant", "destination", "sort"];

/** Search by id or key on the left, choices beside it, the rarer ones below on demand. */
export function DeliveryFilterBar({ region, filters, narrowed, set, clear }: DeliveryFilters) {
  const scope = useScope(region);
  const used = MORE_FILTERS.filter((name) => filters[name]).length;
  const [asked, setAsked] = useState(false);
  const open = asked || used > 0;
  const waiting = filters.state === "ready" || filters.state === "delayed";
  return (
    <FilterBar
      used={used + countUsed(filters, COMMON_FILTERS)}
      onClear={narrowed ? clear : null}
      end={<SavedViews page="deliveries" />}
      more={open ? <MoreFilters filters={filters} set={set} /> : null}
      lead={
        <SearchField
          key={filters.q ?? ""}
          label="Delivery id or idempotency key, exact"
          value={filters.q ?? ""}
          onSubmit={(q) => set({ q: q === "" ? null : q })}
        />
      }
    >
      <Select
        label="State"
        value={filters.state ?? ""}
        options={STATE_OPTIONS}
        onChange={(value) => set({ state: value || null, sort: null })}
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
      {waiting ? (
        <Select
          label="Order"
          value={filters.sort ?? ""}
          options={SORT_OPTIONS}
          onChange={(value) => set({ sort: value || null })}
        />
      ) : null}
      <Button expanded={open} onClick={() => setAsked(!asked)} disabled={used > 0}>
        <SlidersHorizontal aria-hidden="true" className="size-3.5" />
        More filters
      </Button>
    </FilterBar>
  );
}
