"use client";
/** One delivery beside the list that it was opened from. The same parts as its page, in the width of the panel. */
import Link from "next/link";
import { ShortId } from "#components/ui/short-id.tsx";
import { SidePanel } from "#components/ui/side-panel.tsx";
import { DeliveryView } from "./delivery.tsx";

export interface DeliveryPanelProps {
  /** Null: closed. */
  id: string | null;
  onClose: () => void;
  traceUrl: string | null;
}

export function DeliveryPanel({ id, onClose, traceUrl }: DeliveryPanelProps) {
  return (
    <SidePanel open={id !== null} onClose={onClose} title={id === null ? "" : <ShortId id={id} />}>
      {id === null ? null : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <Link
            href={`/deliveries/${id}`}
            prefetch={false}
            className="justify-self-start underline underline-offset-4"
          >
            Open its page
          </Link>
          <DeliveryView key={id} id={id} traceUrl={traceUrl} narrow />
        </div>
      )}
    </SidePanel>
  );
}
