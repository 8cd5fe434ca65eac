"use client";
/** The dead letters of one region, by cause or one by one: what waits for a person, and why. Nothing on this page removes one. */
import { ScopeSelects } from "#components/deliveries/scope-selects.tsx";
import { useScope } from "#components/queries/deliveries.ts";
import { SavedViews } from "#components/shell/saved-views.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { countUsed, FilterBar } from "#components/ui/filter-bar.tsx";
import { Select } from "#components/ui/select.tsx";
import { TabPanel, Tabs } from "#components/ui/tabs.tsx";
import { DEAD_REASON_WORDS } from "#components/ui/words.ts";
import { GROUP_STATES } from "#domain/dead-letter-group.ts";
import { DEAD_CLASSES, DEAD_REASONS } from "#domain/delivery.ts";
import { CauseList } from "./cause-list.tsx";
import { CLASS_WORDS, GROUP_STATE_WORDS } from "./cause-words.ts";
import { EntryList } from "./entry-list.tsx";
import { GroupPanel } from "./group-panel.tsx";
import {
  DEAD_LETTER_PARAMETERS,
  type DeadLetterFilters,
  useDeadLetterFilters,
  type View,
} from "./use-dead-letter-filters.ts";

const VIEW_TABS = [
  { key: "groups", label: "By cause" },
  { key: "entries", label: "Entries" },
] as const;

/** Filters come from the address, rows from the API. */
export function DeadLettersPage() {
  const list = useDeadLetterFilters();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Tabs
        label="Dead letters"
        value={list.view}
        tabs={VIEW_TABS}
        onChange={(view) => list.show(view as View, view === "entries" ? list.group : null)}
      />
      <DeadLetterFilterBar {...list} />
      <DroppedChips known={DEAD_LETTER_PARAMETERS} />
      <TabPanel tab="groups" value={list.view}>
        <CauseList list={list} />
      </TabPanel>
      <TabPanel tab="entries" value={list.view}>
        <EntryList list={list} />
      </TabPanel>
      {list.view === "groups" && list.group !== null ? (
        <GroupPanel key={list.group} region={list.region} id={list.group} list={list} />
      ) : null}
    </div>
  );
}

const REASON_OPTIONS = [
  { value: "", label: "Any reason" },
  ...DEAD_REASONS.map((value) => ({ value, label: DEAD_REASON_WORDS[value] })),
];
const CLASS_OPTIONS = [
  { value: "", label: "Any class" },
  ...DEAD_CLASSES.map((value) => ({ value, label: CLASS_WORDS[value].label })),
];
const STATUS_OPTIONS = [
  { value: "", label: "Any status" },
  ...GROUP_STATES.map((value) => ({ value, label: GROUP_STATE_WORDS[value].label })),
];
const CODES = ["4xx", "5xx", "timeout", "network"];
const MARKED_OPTIONS = [
  { value: "", label: "Marked or not" },
  { value: "no", label: "Can be replayed" },
  { value: "yes", label: "Will not be replayed" },
];
const RANGE_OPTIONS = [
  { value: "", label: "Any time" },
  { value: "1h", label: "Died in the last hour" },
  { value: "6h", label: "Died in the last 6 h" },
  { value: "24h", label: "Died in the last 24 h" },
  { value: "7d", label: "Died in the last 7 d" },
];

const CAUSE_FILTERS = ["cause", "reason", "code", "status", "tenant", "destination"];
const ENTRY_FILTERS = ["cause", "reason", "code", "range", "marked", "tenant", "destination"];

function DeadLetterFilterBar(list: DeadLetterFilters) {
  const { region, view, filters, narrowed, set, clear } = list;
  const scope = useScope(region);
  return (
    <FilterBar
      used={countUsed(filters, view === "groups" ? CAUSE_FILTERS : ENTRY_FILTERS)}
      onClear={narrowed ? clear : null}
      end={<SavedViews page="dead-letters" />}
    >
      <Choice list={list} name="cause" label="Class" options={CLASS_OPTIONS} />
      <Choice list={list} name="reason" label="Reason" options={REASON_OPTIONS} />
      <Choice list={list} name="code" label="Code" options={codeOptions(filters.code ?? null)} />
      {view === "groups" ? (
        <Choice list={list} name="status" label="Status" options={STATUS_OPTIONS} />
      ) : (
        <>
          <Choice list={list} name="range" label="Died" options={RANGE_OPTIONS} />
          <Choice list={list} name="marked" label="Replay" options={MARKED_OPTIONS} />
        </>
      )}
      <ScopeSelects
        scope={scope.data?.status === "ok" ? scope.data.data : null}
        tenant={filters.tenant ?? null}
        destination={filters.destination ?? null}
        onChange={set}
      />
    </FilterBar>
  );
}

interface ChoiceProps {
  list: DeadLetterFilters;
  name: string;
  label: string;
  options: readonly { value: string; label: string }[];
}

function Choice({ list, name, label, options }: ChoiceProps) {
  return (
    <Select
      label={label}
      className="max-w-52"
      value={list.filters[name] ?? ""}
      options={options}
      onChange={(value) => list.set({ [name]: value || null })}
    />
  );
}

/** A status that stands in the address is offered as it is. */
function codeOptions(chosen: string | null) {
  const codes = chosen === null || CODES.includes(chosen) ? CODES : [...CODES, chosen];
  return [{ value: "", label: "Any code" }, ...codes.map((code) => ({ value: code, label: code }))];
}
