"use client";
/** The rarer filters of the delivery list: reason, last result, attempts, age, acceptance time, event type. */
import { Chip } from "#components/ui/chip.tsx";
import { formatInstant, zoneName } from "#components/ui/format.ts";
import { SearchField } from "#components/ui/search-field.tsx";
import { Select } from "#components/ui/select.tsx";
import { useZone } from "#components/ui/zone.tsx";
import { isEventType } from "#domain/delivery-filter.ts";
import {
  AGE_OPTIONS,
  ATTEMPTS_OPTIONS,
  CODE_OPTIONS,
  RANGE_OPTIONS,
  REASON_OPTIONS,
  withValue,
} from "./filter-options.ts";
import type { DeliveryFilters } from "./use-delivery-filters.ts";

const CHOICES = [
  { name: "reason", label: "Reason", options: REASON_OPTIONS },
  { name: "code", label: "Last result", options: CODE_OPTIONS },
  { name: "attempts", label: "Attempts", options: ATTEMPTS_OPTIONS },
  { name: "age", label: "Age", options: AGE_OPTIONS },
] as const;

/** A fixed time from a copied link is a chip: it can be seen and removed. */
export function MoreFilters({ filters, set }: Pick<DeliveryFilters, "filters" | "set">) {
  const type = filters.type ?? "";
  return (
    <div className="flex flex-wrap items-center gap-2">
      {CHOICES.map(({ name, label, options }) => (
        <Select
          key={name}
          label={label}
          className="max-w-60"
          value={filters[name] ?? ""}
          options={withValue(options, filters[name] ?? null)}
          onChange={(value) => set({ [name]: value || null })}
        />
      ))}
      <Select
        label="Accepted"
        value={filters.from || filters.to ? "" : (filters.range ?? "")}
        options={RANGE_OPTIONS}
        onChange={(value) => set({ range: value || null, from: null, to: null })}
      />
      <FixedTime name="from" words="Accepted from" value={filters.from ?? null} set={set} />
      <FixedTime name="to" words="Accepted before" value={filters.to ?? null} set={set} />
      <SearchField
        key={type}
        label="Event type, exact"
        value={type}
        onSubmit={(text) => set({ type: isEventType(text) ? text : null })}
      />
    </div>
  );
}

function FixedTime({
  name,
  words,
  value,
  set,
}: {
  name: "from" | "to";
  words: string;
  value: string | null;
  set: DeliveryFilters["set"];
}) {
  const zone = useZone();
  if (value === null) return null;
  return (
    <Chip
      label={`${words} ${formatInstant(value, zone)} ${zoneName(zone, value)}`}
      action="Remove this time"
      onRemove={() => set({ [name]: null })}
    />
  );
}
