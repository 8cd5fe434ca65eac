"use client";
/**
 * What may be done to one delivery: bring its time forward, cancel it, or mark a dead letter as not to be replayed. None of
 * them sends a dead letter again: that needs a reviewed batch.
 */
import type { ReactNode } from "react";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { STATE_WORDS } from "#components/ui/words.ts";
import type { DeliveryControlView, DeliveryRefusals } from "#db/console/control-views.ts";
import { formatAge } from "#domain/queue-age.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { Effects, Fact, Facts, Warning } from "./dialog-parts.tsx";
import { sentence } from "./permit-words.ts";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

export function RetryNowDialog(props: DialogProps) {
  return (
    <DeliveryDialog {...props} refusal="retryNow" button="Retry 1 now">
      <Effects>
        <li>Its due time becomes now. It stays the same delivery, with the same id and key.</li>
        <li>Gate, pause, caps and rate still hold: it goes when they let it.</li>
      </Effects>
    </DeliveryDialog>
  );
}

export function CancelDialog(props: DialogProps) {
  return (
    <DeliveryDialog {...props} refusal="cancel" button="Cancel 1 delivery" danger>
      <Effects>
        <li>It is never sent. This cannot be undone.</li>
        <li>Its row and its attempts stay in the archive; its key stays taken.</li>
      </Effects>
    </DeliveryDialog>
  );
}

export function WillNotReplayDialog(props: DialogProps) {
  return (
    <DeliveryDialog {...props} refusal="willNotReplay" button="Mark 1 dead letter" versioned>
      <Effects>
        <li>Replay batches leave it out from now on.</li>
        <li>The row stays, with its attempts and this reason.</li>
      </Effects>
    </DeliveryDialog>
  );
}

interface DeliveryDialogProps extends DialogProps {
  refusal: keyof DeliveryRefusals;
  button: string;
  danger?: boolean;
  versioned?: boolean;
  children: ReactNode;
}

function DeliveryDialog({
  request,
  onClose,
  refusal,
  button,
  danger = false,
  versioned = false,
  children,
}: DeliveryDialogProps) {
  return (
    <ControlDialog<DeliveryControlView>
      request={request}
      onClose={onClose}
      danger={danger}
      unversioned={!versioned}
      plan={({ view }) => ({ body: {}, button, problem: sentence(view.refused[refusal]) })}
    >
      {(shown) => (
        <>
          <DeliveryFacts shown={shown} />
          {children}
          {shown.view.refused[refusal] === null ? null : (
            <Warning>{sentence(shown.view.refused[refusal])}</Warning>
          )}
        </>
      )}
    </ControlDialog>
  );
}

function DeliveryFacts({ shown: { view, asOf, nowMs } }: { shown: Shown<DeliveryControlView> }) {
  const aheadMs = Date.parse(view.dueAt) - nowMs;
  return (
    <Facts asOf={asOf}>
      <Fact label="Delivery">
        <span className="font-mono">{view.id}</span>
      </Fact>
      <Fact label="State">{STATE_WORDS[view.state].label}</Fact>
      <Fact label="Tenant">{view.tenantName}</Fact>
      <Fact label="Due">
        <Timestamp iso={view.dueAt} named plain />,{" "}
        {aheadMs > 0 ? `in ${formatAge(aheadMs)}` : `${formatAge(-aheadMs)} ago`}
      </Fact>
      <Fact label="Attempts">{view.attempts}</Fact>
    </Facts>
  );
}
