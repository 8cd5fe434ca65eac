"use client";
/** The filters of the audit. Every change goes into the page's address. */
import { useAuditActions } from "#components/queries/audit.ts";
import { useScope } from "#components/queries/deliveries.ts";
import { SavedViews } from "#components/shell/saved-views.tsx";
import { Chip } from "#components/ui/chip.tsx";
import { countUsed, FilterBar } from "#components/ui/filter-bar.tsx";
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { actionText, RESULT_WORDS } from "./audit-words.ts";
import { type AuditFilters, RANGES, RESULTS } from "./use-audit-filters.ts";

const RESULT_OPTIONS = [
  { value: "", label: "Any result" },
  ...RESULTS.map((value) => ({ value, label: RESULT_WORDS[value].label })),
];
const RANGE_WORDS: Readonly<Record<string, string>> = {
  "1h": "Last hour",
  "6h": "Last 6 h",
  "24h": "Last 24 h",
  "7d": "Last 7 d",
  "30d": "Last 30 d",
};
const RANGE_OPTIONS = [
  { value: "", label: "Any time" },
  ...RANGES.map((value) => ({ value, label: RANGE_WORDS[value] ?? value })),
];

export function AuditFilterBar({ list }: { list: AuditFilters }) {
  const { region, filters, narrowed, set, clear } = list;
  const scope = useScope(region);
  const actions = useAuditActions(region);
  const known = actions.data?.status === "ok" ? actions.data.data.actions : [];
  return (
    <FilterBar
      used={countUsed(filters, ["target", "action", "result", "range", "tenant", "from", "to"])}
      onClear={narrowed ? clear : null}
      end={<SavedViews page="audit" />}
      lead={
        <SearchField
          label="Actor, exact: user:ann@example.com, system"
          placeholder="Actor, exact"
          value={filters.actor ?? ""}
          onSubmit={(actor) => set({ actor: actor === "" ? null : actor })}
        />
      }
    >
      <SearchField
        label="Target id, exact"
        size="short"
        value={filters.target ?? ""}
        onSubmit={(target) => set({ target: target === "" ? null : target })}
      />
      <Select
        label="Action"
        className="max-w-52"
        value={filters.action ?? ""}
        options={actionOptions(known, filters.action ?? null)}
        onChange={(value) => set({ action: value || null })}
      />
      <Select
        label="Result"
        value={filters.result ?? ""}
        options={RESULT_OPTIONS}
        onChange={(value) => set({ result: value || null })}
      />
      <Select
        label="Time"
        value={filters.range ?? ""}
        options={RANGE_OPTIONS}
        onChange={(value) => set({ range: value || null })}
      />
      <Select
        label="Tenant"
        className="max-w-52"
        value={filters.tenant ?? ""}
        options={tenantOptions(
          scope.data?.status === "ok" ? scope.data.data.tenants : [],
          filters.tenant ?? null,
        )}
        onChange={(value) => set({ tenant: value || null })}
      />
      {(["from", "to"] as const).map((name) =>
        filters[name] ? (
          <Chip
            key={name}
            label={`${name} ${filters[name]}`}
            action="Remove it from the address"
            onRemove={() => set({ [name]: null })}
          />
        ) : null,
      )}
    </FilterBar>
  );
}

/** Families first, then each action. What stands in the address is offered as it is. */
function actionOptions(known: readonly string[], chosen: string | null) {
  const families = [
    ...new Set(
      known.filter((action) => action.includes(".")).map((action) => `${action.split(".", 1)[0]}.*`),
    ),
  ];
  const all = [...families, ...known];
  const offered = chosen === null || all.includes(chosen) ? all : [...all, chosen];
  return [
    { value: "", label: "Any action" },
    ...offered.map((value) => ({
      value,
      label: value.endsWith(".*") ? `${actionText(value.slice(0, -2))}: all` : actionText(value),
    })),
  ];
}

function tenantOptions(
  tenants: readonly { id: string; slug: string; name: string }[],
  chosen: string | null,
) {
  const options = tenants.map(({ slug, name }) => ({ value: slug, label: name }));
  const known = chosen === null || options.some((option) => option.value === chosen);
  return [
    { value: "", label: "Any tenant" },
    ...options,
    ...(known ? [] : [{ value: chosen, label: chosen }]),
  ];
}
