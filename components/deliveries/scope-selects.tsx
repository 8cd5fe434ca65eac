"use client";
/** Tenant and destination as choices by name. A value from the address that is not offered stays visible as it is. */
import { Select } from "#components/ui/select.tsx";
import type { Scope } from "#db/console/list-scope.ts";

interface ScopeSelectsProps {
  /** Null while the names are not known. */
  scope: Scope | null;
  /** Slug or `ten_...`. */
  tenant: string | null;
  destination: string | null;
  onChange: (change: { tenant?: string | null; destination?: string | null }) => void;
}

/** Choosing another tenant forgets the destination, which belongs to the one before. */
export function ScopeSelects({ scope, tenant, destination, onChange }: ScopeSelectsProps) {
  const tenants = scope?.tenants ?? [];
  const chosen = tenants.find((one) => one.slug === tenant || one.id === tenant);
  const offered = chosen === undefined ? tenants : [chosen];
  const destinations = offered.flatMap((one) =>
    one.destinations.map((entry) => ({
      value: entry.id,
      label: chosen === undefined ? `${one.name}: ${entry.name}` : entry.name,
    })),
  );
  return (
    <>
      <Select
        label="Tenant"
        className="max-w-52"
        value={chosen?.slug ?? tenant ?? ""}
        options={withValue(
          [
            { value: "", label: "Any tenant" },
            ...tenants.map(({ slug, name }) => ({ value: slug, label: name })),
          ],
          chosen?.slug ?? tenant,
        )}
        onChange={(value) => onChange({ tenant: value || null, destination: null })}
      />
      <Select
        label="Destination"
        className="max-w-52"
        value={destination ?? ""}
        options={withValue([{ value: "", label: "Any destination" }, ...destinations], destination)}
        onChange={(value) => onChange({ destination: value || null })}
      />
    </>
  );
}

function withValue(options: { value: string; label: string }[], value: string | null) {
  if (value === null || options.some((option) => option.value === value)) return options;
  return [...options, { value, label: value }];
}
