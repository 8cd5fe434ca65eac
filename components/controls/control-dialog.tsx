"use client";
/**
 * The frame of every control: present values read afresh, effect, fields, reason, ticket, and how far the request has come.
 * It must never say that something is applied before the API has said so, and never lose what was typed to an error.
 */
import { type ReactNode, useId } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { Region } from "#domain/region.ts";
import { CommandError } from "./command-error.tsx";
import { ACTION_OF_VERB, type ControlRequest } from "./control-request.ts";
import { titleOf } from "./control-words.ts";
import { Warning } from "./dialog-parts.tsx";
import { FormButtons } from "./form-buttons.tsx";
import { ReadingNotice } from "./reading-notice.tsx";
import { ReasonFields } from "./reason-fields.tsx";
import { RegionResults } from "./region-checks.tsx";
import { doneRegions, type RegionPart } from "./region-parts.ts";
import { serverNowMs } from "./server-clock.ts";
import { type ControlForm, useControlForm } from "./use-control-form.ts";
import { type ControlView, useFreshControl } from "./use-control-view.ts";

/** What pressing the primary button sends. */
export interface Plan {
  /** The command's fields beside reason and ticket. */
  body: object;
  /** Repeats the verb and the number. */
  button: string;
  /** Why it cannot be sent as it stands, or null. */
  problem: string | null;
  /** Where it may go to several regions: the command of each, its own first. */
  parts?: readonly RegionPart[];
}

/** The values and their time, for the body of a dialog. */
export interface Shown<V> {
  view: V;
  /** Database time of the values, UTC. */
  asOf: string;
  /** The server's time when the body was drawn. */
  nowMs: number;
  /** True once the form was sent: problems may be shown beside their fields. */
  tried: boolean;
  /** Regions in which this dialog has done it already, where it goes to several. */
  done: readonly Region[];
}

export interface ControlDialogProps<V extends ControlView, A extends CommandAnswer> {
  request: ControlRequest;
  onClose: () => void;
  plan: (shown: Shown<V>) => Plan;
  /** State, effect and fields. */
  children: (shown: Shown<V>) => ReactNode;
  title?: string;
  danger?: boolean;
  wide?: boolean;
  /** The row has no version, its state is the guard. */
  unversioned?: boolean;
  /** What the dialog goes on to show after the answer. Absent: it closes and a message tells. */
  result?: (answer: A) => ReactNode;
  /** The values are read again: what the dialog has read beside them should be too. */
  onReload?: () => void;
}

/** One dialog for all states, so that the focus and the reader stay where they are. */
export function ControlDialog<V extends ControlView, A extends CommandAnswer = CommandAnswer>(
  props: ControlDialogProps<V, A>,
) {
  const { request, onClose } = props;
  const formId = useId();
  const query = useFreshControl<V>(request.target);
  const form = useControlForm<A>(props);
  const answer = query.data?.status === "ok" ? query.data : null;
  const shown: Shown<V> | null =
    answer === null
      ? null
      : {
          view: answer.data,
          asOf: answer.asOf,
          nowMs: serverNowMs(answer.asOf, query.dataUpdatedAt),
          tried: form.tried,
          done: doneRegions(form.results),
        };
  const refetch = () => {
    void query.refetch();
    props.onReload?.();
  };
  const { ready, body, footer } = partsOf(props, form, formId, shown, {
    refetch,
    failed: query.isRefetchError,
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={props.title ?? titleOf(request)}
      width={props.wide ? "wide" : "narrow"}
      ready={ready}
      footer={footer}
    >
      {body ?? <ReadingNotice answer={query.data} error={query.error} onRetry={refetch} />}
    </Dialog>
  );
}

/** Reading the values again. */
interface Again {
  refetch: () => void;
  /** The last try failed; the older values stay. */
  failed: boolean;
}

interface Parts {
  ready: boolean;
  /** Null: there are no values yet. */
  body: ReactNode | null;
  footer: ReactNode;
}

function partsOf<V extends ControlView, A extends CommandAnswer>(
  props: ControlDialogProps<V, A>,
  form: ControlForm<A>,
  formId: string,
  shown: Shown<V> | null,
  again: Again,
): Parts {
  const { request, onClose, result } = props;
  const close = <Button onClick={onClose}>Close</Button>;
  if (form.answer !== null && result) return { ready: true, body: result(form.answer), footer: close };
  if (shown === null) return { ready: false, body: null, footer: <Button onClick={onClose}>Cancel</Button> };
  const permit = shown.view.permit[ACTION_OF_VERB[request.verb]];
  if (!permit?.allowed) {
    const body = (
      <Notice kind="empty" title="Your role does not include this" compact>
        {permit?.reason ?? "Ask somebody with a higher role in this scope."}
      </Notice>
    );
    return { ready: true, body, footer: close };
  }
  const plan = props.plan(shown);
  const busy = form.phase.at === "requested";
  return {
    ready: true,
    body: <FormBody {...props} form={form} formId={formId} shown={shown} plan={plan} again={again} />,
    footer: (
      <FormButtons
        formId={formId}
        label={plan.button}
        busy={busy}
        danger={props.danger ?? false}
        onCancel={onClose}
      />
    ),
  };
}

interface FormBodyProps<V extends ControlView, A extends CommandAnswer> extends ControlDialogProps<V, A> {
  form: ControlForm<A>;
  formId: string;
  shown: Shown<V>;
  again: Again;
}

function FormBody<V extends ControlView, A extends CommandAnswer>({
  form,
  formId,
  shown,
  plan,
  children,
  unversioned = false,
  again,
}: Omit<FormBodyProps<V, A>, "plan"> & { plan: Plan }) {
  const { view, nowMs } = shown;
  const reload = () => {
    form.clear();
    again.refetch();
  };
  return (
    <form
      id={formId}
      noValidate
      className="grid gap-4"
      onSubmit={(event) => form.submit(event, plan, { nowMs, version: unversioned ? null : view.version })}
    >
      {children(shown)}
      <ReasonFields draft={form.draft} onChange={form.setDraft} showProblems={form.tried} />
      {form.tried && plan.problem !== null ? (
        <p role="alert" className="text-danger text-table">
          {plan.problem}
        </p>
      ) : null}
      {again.failed ? <Warning>The values could not be read again: these are the older ones.</Warning> : null}
      {form.phase.at === "refused" ? (
        <CommandError error={form.phase.error} nowMs={nowMs} onReload={reload} />
      ) : null}
      <RegionResults results={form.results} nowMs={nowMs} onReload={reload} />
    </form>
  );
}
