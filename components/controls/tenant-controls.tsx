"use client";
/** What may be done to a tenant in one region. */
import type { TenantControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import { ControlBar, type ControlItem } from "./control-bar.tsx";
import { barState } from "./use-bar.ts";
import { useLiveControl } from "./use-control-view.ts";

export interface TenantControlsProps {
  region: Region;
  /** `ten_...` */
  tenantId: string;
  name: string;
}

/** Buttons and a menu; place it beside the heading of the tenant. */
export function TenantControls({ region, tenantId, name }: TenantControlsProps) {
  const target = { kind: "tenant", region, id: tenantId, name } as const;
  const { view, permit, outage } = barState(useLiveControl(target));
  return (
    <ControlBar
      target={target}
      permit={permit}
      outage={outage}
      buttons={buttonsOf(view)}
      more={moreOf(view)}
    />
  );
}

function buttonsOf(view: TenantControlView | null): ControlItem[] {
  return [pauseItem(view), { key: "limits", verb: "limits", label: "Limits" }];
}

function moreOf(view: TenantControlView | null): ControlItem[] {
  return [
    extendItem(view),
    { key: "weight", verb: "weight", label: "Change weight" },
    { key: "replay-header", verb: "replay-header", label: "Change the replay header" },
  ];
}

type Pausable = Pick<TenantControlView, "pause">;

/** One button that changes its word: the focus stays on it. */
export function pauseItem(view: Pausable | null): ControlItem {
  const paused = view !== null && view.pause.until !== null;
  return paused
    ? { key: "pause", verb: "resume", label: "Resume" }
    : { key: "pause", verb: "pause", label: "Pause" };
}

export function extendItem(view: Pausable | null): ControlItem {
  const paused = view !== null && view.pause.until !== null;
  return {
    key: "extend",
    verb: "pause",
    label: "Change the end of the pause",
    blocked: paused ? null : "It is not paused",
  };
}
