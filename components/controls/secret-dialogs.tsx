"use client";
/**
 * A new signing secret, and the end of the previous one. The new secret stands in this dialog once and nowhere else: it is
 * never kept in a cache, an address or a message.
 */
import { useState } from "react";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { ChoiceField } from "#components/ui/field-choice.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { DestinationControlView } from "#db/console/control-views.ts";
import { formatAge } from "#domain/queue-age.ts";
import { AnswerMessage, AuditLink } from "./answer-toast.tsx";
import type { RotateAnswer } from "./answers.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { Effects, Fact, Facts, Warning } from "./dialog-parts.tsx";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

type Keep = "current" | "previous" | "none";
const HOUR_MS = 3_600_000;
const KEEP_FOR_MS = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 168 * HOUR_MS } as const;
const KEEP_LABELS = { "1h": "1 h", "24h": "24 h", "7d": "7 d" } as const;
type KeepFor = keyof typeof KEEP_FOR_MS;

export function RotateSecretDialog({ request, onClose }: DialogProps) {
  const [keep, setKeep] = useState<Keep>("current");
  const [keepFor, setKeepFor] = useState<KeepFor>("24h");
  return (
    <ControlDialog<DestinationControlView, RotateAnswer>
      request={request}
      onClose={onClose}
      danger={keep === "none"}
      plan={({ view, nowMs }) => ({
        body: keep === "none" ? { keep } : { keep, keepMs: KEEP_FOR_MS[keepFor] },
        button:
          keep === "none"
            ? "Rotate, end the old at once"
            : `Rotate, keep the old for ${KEEP_LABELS[keepFor]}`,
        problem: keepProblem(keep, previousLives(view, nowMs)),
      })}
      result={(answer) => <NewSecret answer={answer} request={request} />}
    >
      {(shown) => (
        <>
          <SecretFacts shown={shown} />
          <ChoiceField<Keep>
            legend="Beside the new secret"
            value={keep}
            onChange={setKeep}
            choices={keepChoices(previousLives(shown.view, shown.nowMs))}
          />
          {keep === "none" ? (
            <Warning>
              From the next attempt on, a receiver that still checks with the old secret refuses everything.
            </Warning>
          ) : (
            <ChoiceField<KeepFor>
              legend="Keep it for"
              inline
              value={keepFor}
              onChange={setKeepFor}
              choices={(Object.keys(KEEP_LABELS) as KeepFor[]).map((value) => ({
                value,
                label: KEEP_LABELS[value],
              }))}
            />
          )}
          <Effects>
            <li>The next attempt signs with the new secret, and with the kept one too while that lives.</li>
            <li>The new secret is shown once, in this dialog. Have the place ready where it goes.</li>
          </Effects>
        </>
      )}
    </ControlDialog>
  );
}

function previousLives({ secret }: DestinationControlView, nowMs: number): boolean {
  return secret.previousUntil !== null && Date.parse(secret.previousUntil) > nowMs;
}

function keepProblem(keep: Keep, previous: boolean): string | null {
  if (keep === "current" && previous)
    return "An earlier secret still signs, and there is room for two. End it first.";
  return keep === "previous" && !previous ? "There is no earlier secret to keep." : null;
}

function keepChoices(previous: boolean) {
  return [
    {
      value: "current" as const,
      label: "The present secret goes on signing",
      hint: "As usual: time to change the receiver.",
      disabled: previous
        ? "An earlier secret still signs, and there is room for two: end it first."
        : undefined,
    },
    {
      value: "previous" as const,
      label: "The one before goes on, the present one goes",
      hint: "When the present one never reached the receiver.",
      disabled: previous ? undefined : "There is no earlier secret.",
    },
    { value: "none" as const, label: "Nothing", hint: "When a secret has leaked." },
  ];
}

function SecretFacts({ shown: { view, asOf, nowMs } }: { shown: Shown<DestinationControlView> }) {
  const { setAt, previousUntil } = view.secret;
  return (
    <Facts asOf={asOf}>
      <Fact label="Receiver">{view.host}</Fact>
      <Fact label="Secret set">
        <Timestamp iso={setAt} named plain />, {formatAge(nowMs - Date.parse(setAt))} ago
      </Fact>
      <Fact label="Previous secret">
        {previousLives(view, nowMs) && previousUntil !== null ? (
          <>
            signs until <Timestamp iso={previousUntil} named plain />
          </>
        ) : (
          "none"
        )}
      </Fact>
    </Facts>
  );
}

function NewSecret({ answer, request }: { answer: RotateAnswer; request: ControlRequest }) {
  return (
    <div className="grid gap-4">
      <p>
        <AnswerMessage request={request} answer={answer} />
      </p>
      {typeof answer.secret !== "string" ? (
        <Warning>
          This answer repeats an earlier one and does not carry the secret again. If it never reached you,
          rotate once more and keep the one before.
        </Warning>
      ) : (
        <div className="rounded-md border border-line bg-subtle p-3">
          <p className="mb-1 flex items-center gap-2 font-medium text-table">
            New secret <CopyButton text={answer.secret} what="secret" />
          </p>
          <p className="select-all break-all font-mono text-table">{answer.secret}</p>
        </div>
      )}
      <Effects>
        <li>It is shown only now. If it is lost, rotate again and keep the one before.</li>
        <li>
          {typeof answer.previousUntil !== "string" ? (
            "Only the new secret signs."
          ) : (
            <>
              The kept secret signs too, until <Timestamp iso={answer.previousUntil} named plain />.
            </>
          )}
        </li>
      </Effects>
      <AuditLink request={request} auditId={answer.auditId} />
    </div>
  );
}

export function EndPreviousSecretDialog({ request, onClose }: DialogProps) {
  return (
    <ControlDialog<DestinationControlView>
      request={request}
      onClose={onClose}
      danger
      plan={({ view, nowMs }) => ({
        body: {},
        button: "End previous secret",
        problem: previousLives(view, nowMs) ? null : "No previous secret signs any more.",
      })}
    >
      {(shown) => (
        <>
          <SecretFacts shown={shown} />
          <Effects>
            <li>From the next attempt on only the present secret signs.</li>
            <li>A receiver that still checks with the previous one refuses what it gets then.</li>
          </Effects>
        </>
      )}
    </ControlDialog>
  );
}
