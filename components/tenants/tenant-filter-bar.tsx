"use client";
/** The filters of the tenants. Every change goes into the page's address. */
import { SavedViews } from "#components/shell/saved-views.tsx";
import { Button } from "#components/ui/button.tsx";
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
    <search className="flex flex-wrap items-center gap-2">
      <SearchField
        key={filters.q ?? ""}
        label="Name or slug"
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
      <Select
        label="Order"
        value={filters.sort === "name" ? "name" : ""}
        options={SORT_OPTIONS}
        onChange={(value) => set({ sort: value || null })}
      />
      {narrowed ? (
        <Button variant="quiet" onClick={clear}>
          Clear filters
        </Button>
      ) : null}
      <SavedViews page="tenants" />
    </search>
  );
}
