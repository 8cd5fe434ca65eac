"use client";
/** How often pages read again. The choice is kept in this browser and holds for every page. */
import { ChevronDown } from "lucide-react";
import { useLiveSwitch } from "#components/queries/live.tsx";
import { REFRESH_CHOICES, type RefreshChoice, refreshLabel } from "#components/queries/refresh.ts";
import { Menu } from "#components/ui/menu.tsx";
import { Select } from "#components/ui/select.tsx";

/** Beside the pill. */
export function RefreshMenu() {
  const { refresh, choose } = useLiveSwitch();
  return (
    <Menu
      label={`Refresh: ${refreshLabel(refresh.choice)}`}
      selected={refresh.choice}
      items={REFRESH_CHOICES.map((choice) => ({
        key: choice,
        label: refreshLabel(choice),
        onSelect: () => choose(choice),
      }))}
    >
      <ChevronDown aria-hidden="true" className="size-3.5" />
    </Menu>
  );
}

/** In the account menu of a phone and in the settings, where a menu in a menu would not do. */
export function RefreshSelect({ className }: { className?: string }) {
  const { refresh, choose } = useLiveSwitch();
  return (
    <Select
      label="Refresh"
      value={refresh.choice}
      options={REFRESH_CHOICES.map((value) => ({ value, label: refreshLabel(value) }))}
      onChange={(value) => choose(value as RefreshChoice)}
      {...(className === undefined ? {} : { className })}
    />
  );
}
