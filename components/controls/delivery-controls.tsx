"use client";
/** What may be done to one delivery, and to its body. */
import type { DeliveryControlView } from "#db/console/control-views.ts";
import type { Region } from "#domain/region.ts";
import { ControlBar, type ControlItem } from "./control-bar.tsx";
import { liftRefusal, restrictRefusal } from "./payload-words.ts";
import { sentence } from "./permit-words.ts";
import { barState } from "./use-bar.ts";
import { useLiveControl } from "./use-control-view.ts";

export interface DeliveryControlsProps {
  region: Region;
  /** `dlv_...` */
  deliveryId: string;
}

/** Buttons and a menu, with the reason where the state or the role does not allow them. */
export function DeliveryControls({ region, deliveryId }: DeliveryControlsProps) {
  const target = { kind: "delivery", region, id: deliveryId, name: `delivery ${deliveryId}` } as const;
  const { view, permit, outage } = barState(useLiveControl(target));
  return (
    <ControlBar
      target={target}
      permit={permit}
      outage={outage}
      buttons={buttonsOf(view)}
      more={view === null ? [] : bodyItems(view)}
    />
  );
}

function buttonsOf(view: DeliveryControlView | null): ControlItem[] {
  const refused = view?.refused;
  const items: ControlItem[] = [
    { key: "retry", verb: "retry-now", label: "Retry now", blocked: sentence(refused?.retryNow ?? null) },
    { key: "cancel", verb: "cancel", label: "Cancel", blocked: sentence(refused?.cancel ?? null) },
  ];
  const mark: ControlItem = {
    key: "mark",
    verb: "will-not-replay",
    label: "Will not replay",
    blocked: sentence(refused?.willNotReplay ?? null),
  };
  return view?.state === "dead" ? [...items, mark] : items;
}

/** A body has no page: what may be done with it stands with the delivery. */
function bodyItems(view: DeliveryControlView): ControlItem[] {
  const target = {
    kind: "payload",
    region: view.region,
    id: view.payload.id,
    name: `the body of delivery ${view.id}`,
    deliveryId: view.id,
  } as const;
  const restrict: ControlItem = view.payload.restricted
    ? { key: "restrict", verb: "lift-restriction", label: "Give back the body", blocked: liftRefusal(view) }
    : { key: "restrict", verb: "restrict", label: "Restrict the body", blocked: restrictRefusal(view) };
  const erase: ControlItem = {
    key: "erase",
    verb: "erase",
    label: "Erase the body",
    blocked: sentence(view.refused.erase),
  };
  return [restrict, erase].map((item) => ({ ...item, target }));
}
