"use client";
/** What a person chose for this browser. Each choice counts at once and is kept in this browser only. */
import { useTheme } from "next-themes";
import { type ReactNode, useSyncExternalStore } from "react";
import { RefreshSelect } from "#components/shell/refresh-menu.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { type PreferenceName, setPreference, usePreference } from "#components/ui/preferences.ts";
import { Segmented } from "#components/ui/segmented.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { OwnZoneField } from "./own-zone-field.tsx";

const never = () => () => {};
const ON_OFF = [
  { value: "on", label: "On" },
  { value: "off", label: "Off" },
];
const ZONES = [
  { value: "utc", label: "UTC" },
  { value: "local", label: "My zone" },
];
const CLOCKS = [
  { value: "24h", label: "24 h" },
  { value: "12h", label: "12 h" },
];
const DENSITIES = [
  { value: "regular", label: "Regular" },
  { value: "compact", label: "Compact" },
];
const EXAMPLE = "2026-03-09T23:05:07.042Z";

/** Rows of a choice and what it does. */
export function ProfilePanel() {
  return (
    <Panel title="This browser" note="kept here, for every page and tab">
      <dl className="grid">
        <Choice
          title="Times"
          does={
            <>
              For example <Timestamp iso={EXAMPLE} named plain />
            </>
          }
        >
          <PreferenceSwitch name="zone" label="Times" options={ZONES} />
        </Choice>
        <Choice title="My zone" does="Stands beside UTC wherever a time is pointed at">
          <OwnZoneField />
        </Choice>
        <Choice title="Clock" does="How times of day are written">
          <PreferenceSwitch name="clock" label="Clock" options={CLOCKS} />
        </Choice>
        <ThemeChoice />
        <Choice title="Density" does="Height of a row in tables: 36 px or 28 px">
          <PreferenceSwitch name="density" label="Density" options={DENSITIES} />
        </Choice>
        <Choice title="Refresh" does="How often pages read again while they are in sight">
          <RefreshSelect />
        </Choice>
        <Choice
          title="Reduced live updates"
          does="New rows always wait until you ask for them, nothing pulses, and nothing is read aloud by itself"
        >
          <PreferenceSwitch name="calm" label="Reduced live updates" options={ON_OFF} />
        </Choice>
        <Choice title="Single-key shortcuts" does="Keys such as j, k and ?. Ctrl K works all the same">
          <PreferenceSwitch name="shortcuts" label="Single-key shortcuts" options={ON_OFF} />
        </Choice>
      </dl>
    </Panel>
  );
}

interface PreferenceSwitchProps {
  name: PreferenceName;
  label: string;
  options: readonly { value: string; label: string }[];
}

function PreferenceSwitch({ name, label, options }: PreferenceSwitchProps) {
  const value = usePreference(name);
  return (
    <Segmented label={label} value={value} options={options} onChange={(next) => setPreference(name, next)} />
  );
}

function ThemeChoice() {
  const { theme, setTheme } = useTheme();
  // The stored choice is unknown on the server.
  const mounted = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  return (
    <Choice title="Theme" does="System follows what this computer is set to">
      <Segmented
        label="Theme"
        value={mounted ? (theme ?? "system") : "system"}
        options={[
          { value: "system", label: "System" },
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
        ]}
        onChange={setTheme}
      />
    </Choice>
  );
}

function Choice({ title, does, children }: { title: string; does: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 border-line border-t py-3 first:border-t-0">
      <dt className="w-full min-w-0 sm:w-96">
        <span className="font-medium">{title}</span>
        <span className="block text-muted text-table">{does}</span>
      </dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
