"use client";
/** Whether the requests of a tenant's replays carry the batch's id in a header of their own. Its live deliveries never do. */
import { useState } from "react";
import { CheckField } from "#components/ui/field-choice.tsx";
import type { TenantControlView } from "#db/console/control-views.ts";
import { ControlDialog } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { Effects, Fact, Facts } from "./dialog-parts.tsx";

export function ReplayHeaderDialog({ request, onClose }: { request: ControlRequest; onClose: () => void }) {
  /** Null: not touched, the box follows the row. */
  const [ticked, setTicked] = useState<boolean | null>(request.fill?.replayHeader ?? null);
  return (
    <ControlDialog<TenantControlView>
      request={request}
      onClose={onClose}
      plan={({ view }) => {
        const replayHeader = ticked ?? view.replayHeader;
        const same = replayHeader === view.replayHeader;
        return {
          body: { replayHeader },
          button: same ? "Change the header" : replayHeader ? "Send the header" : "Stop sending the header",
          problem: same ? "Nothing is changed yet." : null,
        };
      }}
    >
      {({ view, asOf }) => (
        <>
          <Facts asOf={asOf}>
            <Fact label="Header webhook-replay">{view.replayHeader ? "sent" : "not sent"}</Fact>
            <Fact label="Destinations">{view.destinations}</Fact>
          </Facts>
          <Effects>
            <li>
              With it each replayed request carries the id of its batch in webhook-replay too, beside
              sluice-replay, from the next request on.
            </li>
            <li>Ids, keys, bodies and signatures stay as they are. The header is not signed.</li>
            <li>What is not replayed never carries it.</li>
          </Effects>
          <CheckField
            label="Send the header webhook-replay"
            hint="For receivers that look for this name."
            checked={ticked ?? view.replayHeader}
            onChange={setTicked}
          />
        </>
      )}
    </ControlDialog>
  );
}
