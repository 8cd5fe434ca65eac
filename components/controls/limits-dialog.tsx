"use client";
/** Concurrency of a tenant; concurrency, rate and burst of a destination. What is not touched is not sent. */
import type { DestinationControlView, TenantControlView } from "#db/console/control-views.ts";
import type { ControlRequest } from "./control-request.ts";
import { DestinationLimitsDialog } from "./destination-limits-dialog.tsx";
import { TenantLimitsDialog } from "./tenant-limits-dialog.tsx";

export type LimitedView = TenantControlView | DestinationControlView;

export function LimitsDialog(props: { request: ControlRequest; onClose: () => void }) {
  return props.request.target.kind === "tenant" ? (
    <TenantLimitsDialog {...props} />
  ) : (
    <DestinationLimitsDialog {...props} />
  );
}
