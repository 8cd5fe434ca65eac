"use client";
/**
 * Erase the body of a delivery for good, take it out of reach for a time, or give it back. Erasing is the one control that
 * nothing undoes: the dialog says so before the field that is typed, and the body itself is never shown by any of them.
 */
import { useState } from "react";
import { TextField } from "#components/ui/field.tsx";
import { formatBytes, plural } from "#components/ui/format.ts";
import { STATE_WORDS } from "#components/ui/words.ts";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { DeliveryControlView } from "#db/console/control-views.ts";
import { AnswerMessage, AuditLink } from "./answer-toast.tsx";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { Effects, Fact, Facts, Warning } from "./dialog-parts.tsx";
import { liftRefusal, readUsers, restrictRefusal } from "./payload-words.ts";
import { sentence } from "./permit-words.ts";
import { tailOf, tailProblem } from "./typed-name.ts";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

const MAX_TAIL_CHARS = 12;

export function EraseDialog({ request, onClose }: DialogProps) {
  const [typed, setTyped] = useState("");
  return (
    <ControlDialog<DeliveryControlView>
      request={request}
      onClose={onClose}
      danger
      unversioned
      plan={({ view }) => ({
        body: {},
        button: "Erase 1 body for good",
        problem: sentence(view.refused.erase) ?? tailProblem(typed, view.id),
      })}
      result={(answer) => <Erased request={request} answer={answer} />}
    >
      {(shown) => (
        <>
          <PayloadFacts shown={shown} />
          <Warning>This cannot be undone. The bytes are gone from this database, for everybody.</Warning>
          <Effects>
            <li>
              Every delivery that uses this body is reached, also those to other destinations. The answer says
              how many.
            </li>
            <li>
              Each later attempt ends without a request, as “payload erased”, and the delivery becomes a dead
              letter.
            </li>
            <li>A request that is on its way already has the body and is not called back.</li>
            <li>
              What stays: the idempotency key with the hash of the body, its size, the attempts, and what
              receivers answered.
            </li>
            <li>Backups and logs of the database keep the body for their own time.</li>
          </Effects>
          {shown.view.refused.erase === null ? null : <Warning>{sentence(shown.view.refused.erase)}</Warning>}
          <TextField
            label={`Type ${tailOf(shown.view.id)}, the end of the delivery's id`}
            mono
            value={typed}
            maxLength={MAX_TAIL_CHARS}
            onChange={setTyped}
            error={shown.tried ? tailProblem(typed, shown.view.id) : null}
          />
        </>
      )}
    </ControlDialog>
  );
}

export function RestrictDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DeliveryControlView>
      request={request}
      onClose={onClose}
      danger
      unversioned
      plan={({ view }) => ({ body: {}, button: "Restrict 1 body", problem: restrictRefusal(view) })}
    >
      {(shown) => (
        <>
          <PayloadFacts shown={shown} />
          <Effects>
            <li>The bytes are kept apart, where no worker can reach them. They can be given back.</li>
            <li>
              What is tried meanwhile ends without a request, as “payload erased”, and becomes a dead letter.
              To keep it waiting, pause its tenant or destination first.
            </li>
            <li>A request that is on its way already has the body and is not called back.</li>
          </Effects>
          <Refusal words={restrictRefusal(shown.view)} />
        </>
      )}
    </ControlDialog>
  );
}

export function LiftRestrictionDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DeliveryControlView>
      request={request}
      onClose={onClose}
      unversioned
      plan={({ view }) => ({ body: {}, button: "Give back 1 body", problem: liftRefusal(view) })}
    >
      {(shown) => (
        <>
          <PayloadFacts shown={shown} />
          <Effects>
            <li>Workers can send the body again from the next attempt on.</li>
            <li>What died of the restriction stays a dead letter: it needs a reviewed batch.</li>
          </Effects>
          <Refusal words={liftRefusal(shown.view)} />
        </>
      )}
    </ControlDialog>
  );
}

function Refusal({ words }: { words: string | null }) {
  return words === null ? null : <Warning>{words}</Warning>;
}

function PayloadFacts({ shown: { view, asOf } }: { shown: Shown<DeliveryControlView> }) {
  const { payload } = view;
  return (
    <Facts asOf={asOf}>
      <Fact label="Delivery">
        <span className="break-all font-mono">{view.id}</span>
      </Fact>
      <Fact label="Tenant">{view.tenantName}</Fact>
      <Fact label="State">{STATE_WORDS[view.state].label}</Fact>
      <Fact label="Body">
        {payload.erased ? "erased" : payload.restricted ? "restricted, kept apart" : "stored"}
        {payload.sizeBytes === null ? "" : `, ${formatBytes(payload.sizeBytes)}`}
      </Fact>
      <Fact label="Payload id">
        <span className="break-all font-mono">{payload.id}</span>
      </Fact>
    </Facts>
  );
}

/** Whom it reached stands only in the answer: it is counted in the transaction that erases. */
function Erased({ request, answer }: { request: ControlRequest; answer: CommandAnswer }) {
  const { waiting, dead, leased, delivered } = readUsers(answer.after);
  return (
    <div className="grid gap-4">
      <p>
        <AnswerMessage request={request} answer={answer} />
      </p>
      <Effects>
        <li>
          {plural(waiting + dead, "delivery", "deliveries")} can no longer be sent: {waiting} waiting, {dead}{" "}
          dead.
        </li>
        <li>{plural(leased, "request")} may be on the way with the body at this moment.</li>
        <li>{plural(delivered, "delivery", "deliveries")} had been delivered before.</li>
      </Effects>
      <AuditLink request={request} auditId={answer.auditId} />
    </div>
  );
}
