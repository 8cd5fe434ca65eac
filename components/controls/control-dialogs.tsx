"use client";
/** Every control dialog by its verb. This file is loaded when the first one is opened, and by nothing else. */
import type { ComponentType } from "react";
import { PinDialog, UnpinDialog } from "./adaptive-dialogs.tsx";
import type { ControlRequest, Verb } from "./control-request.ts";
import { CancelDialog, RetryNowDialog, WillNotReplayDialog } from "./delivery-dialogs.tsx";
import { DisableDialog, EnableDialog, OpenGateDialog } from "./destination-dialogs.tsx";
import { LimitsDialog } from "./limits-dialog.tsx";
import { PauseDialog } from "./pause-dialog.tsx";
import { EraseDialog, LiftRestrictionDialog, RestrictDialog } from "./payload-dialogs.tsx";
import { RegionDefaultsDialog } from "./region-defaults-dialog.tsx";
import { StartClaimsDialog, StopClaimsDialog } from "./region-dialogs.tsx";
import { ReplayHeaderDialog } from "./replay-header-dialog.tsx";
import { ResumeDialog } from "./resume-dialog.tsx";
import { EndPreviousSecretDialog, RotateSecretDialog } from "./secret-dialogs.tsx";
import { TestEventDialog } from "./test-event-dialog.tsx";
import { WeightDialog } from "./weight-dialog.tsx";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

const DIALOGS: Readonly<Record<Verb, ComponentType<DialogProps>>> = {
  pause: PauseDialog,
  resume: ResumeDialog,
  limits: LimitsDialog,
  weight: WeightDialog,
  "replay-header": ReplayHeaderDialog,
  pin: PinDialog,
  unpin: UnpinDialog,
  disable: DisableDialog,
  enable: EnableDialog,
  "open-gate": OpenGateDialog,
  "rotate-secret": RotateSecretDialog,
  "end-previous-secret": EndPreviousSecretDialog,
  "test-event": TestEventDialog,
  "retry-now": RetryNowDialog,
  cancel: CancelDialog,
  "will-not-replay": WillNotReplayDialog,
  erase: EraseDialog,
  restrict: RestrictDialog,
  "lift-restriction": LiftRestrictionDialog,
  "stop-claims": StopClaimsDialog,
  "start-claims": StartClaimsDialog,
  defaults: RegionDefaultsDialog,
};

export function ControlDialogs(props: DialogProps) {
  const Dialog = DIALOGS[props.request.verb];
  return <Dialog {...props} />;
}
