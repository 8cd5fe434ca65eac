"use client";
/** The filters of the tenants. Every change goes into the page's address. */
import { SavedViews } from "#components/shell/saved-views.tsx";
import { countUsed, FilterBar } from "#components/ui/filter-bar.tsx";
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { TENANT_STATE_WORDS } from "./tenant-state.tsx";
import { TENANT_LIST_STATES, type TenantFilters } from "./use-tenant-filters.ts";

const STATE_OPTIONS = [
  { value: "", label: "Any state" },
  ...TENANT_LIST_STATES.map((value) => ({ value, label: TENANT_STATE_WORDS[value].label })),
];
const CLASS_OPTIONS = [
  { value: "", label: "Any class" },
  { value: "urgent", label: "Urgent" },
  { value: "routine", label: "Routine" },
];
const SORT_OPTIONS = [
  { value: "", label: "Worst age first" },
  { value: "name", label: "By name" },
];

export function TenantFilterBar({ filters, narrowed, set, clear }: TenantFilters) {
  return (
    <FilterBar
      used={countUsed(filters, ["state", "class", "sort"])}
      onClear={narrowed ? clear : null}
      end={<SavedViews page="tenants" />}
      lead={
        <SearchField
          key={filters.q ?? ""}
          label="Name or slug"
          value={filters.q ?? ""}
          onSubmit={(q) => set({ q: q === "" ? null : q })}
        />
      }
    >
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
      <Select
        label="Order"
        value={filters.sort === "name" ? "name" : ""}
        options={SORT_OPTIONS}
        onChange={(value) => set({ sort: value || null })}
      />
    </FilterBar>
  );
}
