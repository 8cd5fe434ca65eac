"use client";
/** Regions and tenants of a grant or a token: only those in which the person has a say themselves. */
import { useScope } from "#components/queries/deliveries.ts";
import { useRegions } from "#components/shell/signed-in.tsx";
import { CheckField, ChoiceField } from "#components/ui/field-choice.tsx";
import type { Region } from "#domain/region.ts";

export interface ScopeChoice {
  regions: readonly Region[];
  /** Null: all tenants of the regions. */
  tenants: readonly string[] | null;
}

export interface ScopeFieldsProps {
  value: ScopeChoice;
  onChange: (value: ScopeChoice) => void;
  error: string | null;
}

/** What is wrong with a choice; null when it will do. */
export function scopeError({ regions, tenants }: ScopeChoice): string | null {
  if (regions.length === 0) return "Choose at least one region.";
  return tenants !== null && tenants.length === 0 ? "Choose at least one tenant, or all of them." : null;
}

export function ScopeFields({ value, onChange, error }: ScopeFieldsProps) {
  const offered = useRegions();
  return (
    <div className="grid gap-3">
      <fieldset>
        <legend className="mb-1 font-medium text-table">Regions</legend>
        <div className="flex flex-wrap gap-x-6">
          {offered.map((region) => (
            <CheckField
              key={region}
              label={region.toUpperCase()}
              checked={value.regions.includes(region)}
              onChange={(checked) =>
                onChange({
                  regions: offered.filter((name) =>
                    name === region ? checked : value.regions.includes(name),
                  ),
                  tenants: value.tenants === null ? null : [],
                })
              }
            />
          ))}
        </div>
      </fieldset>
      <ChoiceField
        legend="Tenants"
        inline
        value={value.tenants === null ? "all" : "some"}
        choices={[
          { value: "all", label: "All, also later ones" },
          { value: "some", label: "Only some" },
        ]}
        onChange={(choice) => onChange({ ...value, tenants: choice === "all" ? null : [] })}
      />
      {value.tenants === null
        ? null
        : value.regions.map((region) => (
            <TenantChecks
              key={region}
              region={region}
              chosen={value.tenants ?? []}
              onChange={(tenants) => onChange({ ...value, tenants })}
            />
          ))}
      <p aria-live="polite" className="text-danger text-table empty:hidden">
        {error ?? ""}
      </p>
    </div>
  );
}

interface TenantChecksProps {
  region: Region;
  chosen: readonly string[];
  onChange: (tenants: readonly string[]) => void;
}

function TenantChecks({ region, chosen, onChange }: TenantChecksProps) {
  const scope = useScope(region);
  const tenants = scope.data?.status === "ok" ? scope.data.data.tenants : [];
  return (
    <fieldset className="scroll-quiet max-h-48 overflow-y-auto rounded-md border border-line px-3 py-1">
      <legend className="px-1 text-muted text-table">Tenants in {region.toUpperCase()}</legend>
      {tenants.map(({ id, name }) => (
        <CheckField
          key={id}
          label={name}
          checked={chosen.includes(id)}
          onChange={(checked) => onChange(checked ? [...chosen, id] : chosen.filter((one) => one !== id))}
        />
      ))}
      {tenants.length === 0 ? <p className="py-2 text-muted text-table">No tenant could be read.</p> : null}
    </fieldset>
  );
}
