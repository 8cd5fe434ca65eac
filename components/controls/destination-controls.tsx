"use client";
/** What may be done to a destination. */
import type { DestinationControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import { ControlBar, type ControlItem } from "./control-bar.tsx";
import { extendItem, pauseItem } from "./tenant-controls.tsx";
import { barState } from "./use-bar.ts";
import { useLiveControl } from "./use-control-view.ts";

export interface DestinationControlsProps {
  region: Region;
  /** `dst_...` */
  destinationId: string;
  name: string;
}

/** Buttons and a menu; place it beside the heading of the destination. */
export function DestinationControls({ region, destinationId, name }: DestinationControlsProps) {
  const target = { kind: "destination", region, id: destinationId, name } as const;
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

function buttonsOf(view: DestinationControlView | null): ControlItem[] {
  const gate: ControlItem = { key: "gate", verb: "open-gate", label: "Open gate now" };
  return [
    pauseItem(view),
    { key: "limits", verb: "limits", label: "Limits" },
    ...(view?.gate ? [gate] : []),
    { key: "test", verb: "test-event", label: "Send test event" },
  ];
}

function moreOf(view: DestinationControlView | null): ControlItem[] {
  const disabled = view !== null && view.disabled !== null;
  return [
    extendItem(view),
    ...(view?.gate
      ? []
      : [
          {
            key: "gate",
            verb: "open-gate",
            label: "Open gate now",
            blocked: "The gate is not shut",
          } as const,
        ]),
    disabled
      ? { key: "disable", verb: "enable", label: "Enable" }
      : { key: "disable", verb: "disable", label: "Disable" },
    { key: "pin", verb: "pin", label: "Pin the adaptive limit" },
    {
      key: "unpin",
      verb: "unpin",
      label: "Unpin the adaptive limit",
      blocked: view?.adaptive.pinned ? null : "It is not pinned",
    },
    { key: "rotate", verb: "rotate-secret", label: "Rotate secret" },
    {
      key: "end-secret",
      verb: "end-previous-secret",
      label: "End the previous secret",
      blocked: view?.secret.previousUntil ? null : "No previous secret signs",
    },
  ];
}
