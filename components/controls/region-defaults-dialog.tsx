"use client";
/** What the tenants and destinations of a region inherit, and how far operators may raise limits of their own. */
import { useState } from "react";
import { CheckField } from "#components/ui/field-choice.tsx";
import { NumberField } from "#components/ui/number-field.tsx";
import type { RegionControlView } from "#db/console/control-views.ts";
import {
  MAX_DESTINATION_CONCURRENCY,
  MAX_RATE_PER_SECOND,
  MAX_TENANT_CONCURRENCY,
  MIN_RATE_PER_SECOND,
} from "./bounds.ts";
import { ControlDialog } from "./control-dialog.tsx";
import { type ControlRequest, DEFAULT_FIELDS, type DefaultField } from "./control-request.ts";
import { Effects, Fact, Facts } from "./dialog-parts.tsx";
import { type ReadLimit, readLimit } from "./limit-draft.ts";

const FIELDS: Readonly<
  Record<DefaultField, { label: string; word: string; min: number; max: number; whole: boolean }>
> = {
  tenantConcurrency: {
    label: "Default tenant limit",
    word: "tenant limit",
    min: 1,
    max: MAX_TENANT_CONCURRENCY,
    whole: true,
  },
  destinationConcurrency: {
    label: "Default destination limit",
    word: "destination limit",
    min: 1,
    max: MAX_DESTINATION_CONCURRENCY,
    whole: true,
  },
  maxTenantConcurrency: {
    label: "Highest tenant limit of operators",
    word: "highest tenant limit",
    min: 1,
    max: MAX_TENANT_CONCURRENCY,
    whole: true,
  },
  maxDestinationConcurrency: {
    label: "Highest destination limit of operators",
    word: "highest destination limit",
    min: 1,
    max: MAX_DESTINATION_CONCURRENCY,
    whole: true,
  },
  maxRatePerSecond: {
    label: "Highest rate of operators, a second",
    word: "highest rate",
    min: MIN_RATE_PER_SECOND,
    max: MAX_RATE_PER_SECOND,
    whole: false,
  },
};

type Typed = Readonly<Partial<Record<DefaultField, string>>>;

export function RegionDefaultsDialog({ request, onClose }: { request: ControlRequest; onClose: () => void }) {
  /** Absent: not touched, the field follows the row. */
  const [typed, setTyped] = useState<Typed>(() => textsOf(request));
  const [acknowledged, setAcknowledged] = useState(false);
  return (
    <ControlDialog<RegionControlView>
      request={request}
      onClose={onClose}
      plan={({ view }) => {
        const { body, words, problem } = readDefaults(view, typed);
        return {
          body: { ...body, ...(acknowledged ? { acknowledge429: true } : {}) },
          button: words.length === 0 ? "Change defaults" : `Change ${words.join(", ")}`,
          problem,
        };
      }}
    >
      {({ view, asOf }) => (
        <>
          <Facts asOf={asOf}>
            <Fact label="Tenant limit">{view.defaults.tenantConcurrency}, inherited by whoever has none</Fact>
            <Fact label="Destination limit">
              {view.defaults.destinationConcurrency}, inherited by whoever has none
            </Fact>
            <Fact label="In flight">{view.inFlight}</Fact>
            <Fact label="Tenants">{view.tenantCount}</Fact>
          </Facts>
          <Effects>
            <li>
              Counts at once for everybody in {view.region.toUpperCase()} who has no limit of their own.
            </li>
            <li>Who has a limit of their own keeps it, also above the highest of operators.</li>
          </Effects>
          {DEFAULT_FIELDS.map((field) => (
            <NumberField
              key={field}
              label={FIELDS[field].label}
              name={`the ${FIELDS[field].word}`}
              value={typed[field] ?? String(rowOf(view)[field])}
              onChange={(text) => setTyped((before) => ({ ...before, [field]: text }))}
              min={FIELDS[field].min}
              max={FIELDS[field].max}
              error={read(view, typed, field).error}
            />
          ))}
          <CheckField
            label="Raise although receivers answer with 429"
            hint="Only asked for when more than 10 % of the region's answers are 429 and a default is raised."
            checked={acknowledged}
            onChange={setAcknowledged}
          />
        </>
      )}
    </ControlDialog>
  );
}

function textsOf({ fill }: ControlRequest): Typed {
  return Object.fromEntries(
    Object.entries(fill?.defaults ?? {}).map(([field, value]) => [field, String(value)]),
  );
}

function rowOf({ defaults, policy }: RegionControlView): Readonly<Record<DefaultField, number>> {
  return { ...defaults, ...policy };
}

function read(view: RegionControlView, typed: Typed, field: DefaultField): ReadLimit {
  const { min, max, whole } = FIELDS[field];
  return readLimit({ text: typed[field] ?? String(rowOf(view)[field]), min, max, whole, empty: null });
}

function readDefaults(view: RegionControlView, typed: Typed) {
  const row = rowOf(view);
  const readings = DEFAULT_FIELDS.map((field) => ({ field, ...read(view, typed, field) }));
  const changed = readings.filter(({ field, value, error }) => error === null && value !== row[field]);
  const error = readings.find((reading) => reading.error !== null)?.error ?? null;
  return {
    body: Object.fromEntries(changed.map(({ field, value }) => [field, value])),
    words: changed.map(({ field, value }) => `${FIELDS[field].word} ${row[field]} → ${value}`),
    problem: error ?? (changed.length === 0 ? "Nothing is changed yet." : null),
  };
}
