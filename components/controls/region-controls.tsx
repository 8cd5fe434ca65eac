"use client";
/** What may be done to a region as a whole. */
import type { RegionControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import { ControlBar, type ControlItem } from "./control-bar.tsx";
import { barState } from "./use-bar.ts";
import { useLiveControl } from "./use-control-view.ts";

export interface RegionControlsProps {
  region: Region;
}

/** Stop or start claims, and the region's defaults. */
export function RegionControls({ region }: RegionControlsProps) {
  const target = { kind: "region", region, id: region, name: region.toUpperCase() } as const;
  const { view, permit, outage } = barState(useLiveControl(target));
  return <ControlBar target={target} permit={permit} outage={outage} buttons={buttonsOf(view)} more={[]} />;
}

function buttonsOf(view: RegionControlView | null): ControlItem[] {
  return [
    view?.claims === "stopped"
      ? { key: "claims", verb: "start-claims", label: "Start claims" }
      : { key: "claims", verb: "stop-claims", label: "Stop claims" },
    { key: "defaults", verb: "defaults", label: "Default limits" },
  ];
}
