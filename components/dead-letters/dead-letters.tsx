"use client";
/** The dead letters of one region: what waits for a person, and why. Nothing on this page removes one. */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { ScopeSelects } from "#components/deliveries/scope-selects.tsx";
import { DELIVERY_PARAMETERS } from "#components/deliveries/use-delivery-filters.ts";
import { useDeadLetters, useScope } from "#components/queries/deliveries.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { formatAge } from "#components/ui/age.ts";
import { Button } from "#components/ui/button.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { Select } from "#components/ui/select.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import { DEAD_REASON_WORDS } from "#components/ui/words.ts";
import type { DeadLetterPage, DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DEAD_REASONS } from "#domain/delivery.ts";
import { REGIONS } from "#domain/region.ts";
import { DeadLettersTable } from "./dead-letters-table.tsx";

const NO_ROWS: readonly DeadLetterRow[] = [];
const keyOf = (row: DeadLetterRow) => row.id;
const PARSERS = {
  region: parseAsStringLiteral(REGIONS),
  tenant: parseAsString,
  destination: parseAsString,
  reason: parseAsStringLiteral(DEAD_REASONS),
  cursor: parseAsString,
};
const { region, tenant, destination, cursor } = DELIVERY_PARAMETERS;
const PARAMETERS: Readonly<Record<string, (value: string) => boolean>> = {
  ...(region && tenant && destination && cursor ? { region, tenant, destination, cursor } : {}),
  reason: (value) => DEAD_REASONS.some((reason) => reason === value),
};
const REASON_OPTIONS = [
  { value: "", label: "Any reason" },
  ...DEAD_REASONS.map((value) => ({ value, label: DEAD_REASON_WORDS[value] })),
];
