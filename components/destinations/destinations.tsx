"use client";
/** The destinations of one region: filters from the address above the list. */
import { useScope } from "#components/queries/deliveries.ts";
import { SavedViews } from "#components/shell/saved-views.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { countUsed, FilterBar } from "#components/ui/filter-bar.tsx";
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { DestinationTableList } from "./destination-list.tsx";
import { DESTINATION_STATE_WORDS } from "./destination-state.tsx";
import {
  DESTINATION_LIST_STATES,
  DESTINATION_PARAMETERS,
  type DestinationFilters,
  useDestinationFilters,
} from "./use-destination-filters.ts";

const STATE_OPTIONS = [
  { value: "", label: "Any state" },
  ...DESTINATION_LIST_STATES.map((value) => ({ value, label: DESTINATION_STATE_WORDS[value].label })),
];
const SORT_OPTIONS = [
  { value: "", label: "Trouble first" },
  { value: "name", label: "By name" },
];

export function DestinationsPage() {
  const view = useDestinationFilters();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DestinationFilterBar {...view} />
      <DroppedChips known={DESTINATION_PARAMETERS} />
      <DestinationTableList
        title={`Destinations in ${view.region.toUpperCase()}`}
        region={view.region}
        filters={view.filters}
        narrowed={view.narrowed}
        onPage={view.page}
        onClear={view.clear}
      />
    </div>
  );
}

function DestinationFilterBar({ region, filters, narrowed, set, clear }: DestinationFilters) {
  const scope = useScope(region);
  const tenants = scope.data?.status === "ok" ? scope.data.data.tenants : [];
  return (
    <FilterBar
      used={countUsed(filters, ["state", "tenant", "sort"])}
      onClear={narrowed ? clear : null}
      end={<SavedViews page="destinations" />}
      lead={
        <SearchField
          key={filters.q ?? ""}
          label="Name, host or dst_ id"
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
      <TenantSelect tenants={tenants} tenant={filters.tenant ?? ""} onChange={(tenant) => set({ tenant })} />
      <Select
        label="Order"
        value={filters.sort === "name" ? "name" : ""}
        options={SORT_OPTIONS}
        onChange={(value) => set({ sort: value || null })}
      />
    </FilterBar>
  );
}

interface TenantSelectProps {
  tenants: readonly { id: string; slug: string; name: string }[];
  /** Slug or `ten_...`; a value from the address that is not offered stays visible as it is. */
  tenant: string;
  onChange: (tenant: string | null) => void;
}

function TenantSelect({ tenants, tenant, onChange }: TenantSelectProps) {
  const value = tenants.find((one) => one.id === tenant)?.slug ?? tenant;
  const known = value === "" || tenants.some((one) => one.slug === value);
  return (
    <Select
      label="Tenant"
      className="max-w-52"
      value={value}
      options={[
        { value: "", label: "Any tenant" },
        ...tenants.map(({ slug, name }) => ({ value: slug, label: name })),
        ...(known ? [] : [{ value, label: value }]),
      ]}
      onChange={(next) => onChange(next || null)}
    />
  );
}
