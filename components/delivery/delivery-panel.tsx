"use client";
/**
 * One delivery beside the list that it was opened from. The same parts as its page, in the width of the panel. They are loaded when the
 * panel is first opened: a list stays small.
 */
import dynamic from "next/dynamic";
import Link from "next/link";
import { ShortId } from "#components/ui/short-id.tsx";
import { SidePanel } from "#components/ui/side-panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

const DeliveryView = dynamic(() => import("./delivery.tsx").then((module) => module.DeliveryView), {
  ssr: false,
  loading: () => <Skeleton className="h-64 w-full" />,
});

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
