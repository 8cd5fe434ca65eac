"use client";
/** The filters of the delivery list. Every change goes into the page's address. */
import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { useScope } from "#components/queries/deliveries.ts";
import { SavedViews } from "#components/shell/saved-views.tsx";
import { Button } from "#components/ui/button.tsx";
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { CLASS_OPTIONS, MORE_FILTERS, SORT_OPTIONS, STATE_OPTIONS } from "./filter-options.ts";
import { MoreFilters } from "./more-filters.tsx";
import { ScopeSelects } from "./scope-selects.tsx";
import type { DeliveryFilters } from "./use-delivery-filters.ts";

/** Search by id or key on the left, choices beside it, the rarer ones below on demand. */
export function DeliveryFilterBar({ region, filters, narrowed, set, clear }: DeliveryFilters) {
  const scope = useScope(region);
  const used = MORE_FILTERS.filter((name) => filters[name]).length;
  const [asked, setAsked] = useState(false);
  const open = asked || used > 0;
  const waiting = filters.state === "ready" || filters.state === "delayed";
  return (
    <search className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
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
        {narrowed ? (
          <Button variant="quiet" onClick={clear}>
            Clear filters
          </Button>
        ) : null}
        <SavedViews page="deliveries" />
      </div>
      {open ? <MoreFilters filters={filters} set={set} /> : null}
    </search>
  );
}
