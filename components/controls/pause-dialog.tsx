"use client";
/** Pause a tenant or a destination until an end that is always there, or move that end. */
import { useState } from "react";
import { actorWords } from "#components/ui/actor-words.ts";
import { TextField } from "#components/ui/field.tsx";
import { ChoiceField } from "#components/ui/field-choice.tsx";
import { formatInstant, type Zone, zoneName } from "#components/ui/format.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { toWallClock } from "#components/ui/wall-clock.ts";
import { useZone } from "#components/ui/zone.tsx";
import type { DestinationControlView, TenantControlView } from "#db/console/control-views.ts";
import { formatLength } from "#domain/queue-age.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { boundedWords, titleIn } from "./control-words.ts";
import { CountAndAge, Effects, Fact, Facts } from "./dialog-parts.tsx";
import {
  DEFAULT_PAUSE_CHOICE,
  lengthWords,
  mostWords,
  type PauseChoice,
  type PauseDraft,
  pauseOptions,
  readPauseDraft,
} from "./pause-choices.ts";
import { RegionChecks } from "./region-checks.tsx";
import { leastPauseMs, regionParts, whereOfRegions } from "./region-parts.ts";
import { useTwins } from "./use-twins.ts";

export type PausableView = TenantControlView | DestinationControlView;

const MAX_DATE_CHARS = 25;

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

export function PauseDialog({ request, onClose }: DialogProps) {
  const zone = useZone();
  const until = request.fill?.until;
  const [choice, setChoice] = useState<PauseChoice>(until === undefined ? DEFAULT_PAUSE_CHOICE : "custom");
  const [typed, setTyped] = useState(until === undefined ? "" : toWallClock(until, zone));
  const { target } = request;
  const twins = useTwins(target);
  const where = whereOfRegions(target.name, [target.region, ...twins.chosen.map(({ region }) => region)]);
  const mostMs = (view: PausableView) => leastPauseMs([view, ...twins.chosen.map((twin) => twin.view)]);
  const draftOf = ({ view, nowMs }: Shown<PausableView>) =>
    readPauseDraft(choice, typed, zone, nowMs, mostMs(view));
  // Once the dialog's own region is done, the twins that are left say which verb it is.
  const extending = ({ view, done }: Shown<PausableView>) =>
    pausedAll(
      done.includes(target.region)
        ? twins.chosen.filter(({ region }) => !done.includes(region)).map((twin) => twin.view)
        : [view],
    );
  return (
    <ControlDialog<PausableView>
      request={request}
      onClose={onClose}
      title={titleIn("pause", where)}
      onReload={twins.again}
      plan={(shown) => {
        const draft = draftOf(shown);
        const body = { end: draft.end };
        return {
          body,
          parts: regionParts(request, body, shown.view.version, twins.chosen),
          button: buttonWords(extending(shown), choice, draft, zone),
          problem: draft.problem ?? twins.problem,
        };
      }}
    >
      {(shown) => (
        <>
          <PauseFacts shown={shown} />
          <PauseEffects view={shown.view} where={where} extends={extending(shown)} />
          <ChoiceField
            legend={extending(shown) ? "New end" : "Pause for"}
            inline
            value={choice}
            choices={pauseOptions(mostMs(shown.view)).map(inlineChoice)}
            onChange={setChoice}
            hint={<EndHint draft={draftOf(shown)} maxPauseMs={mostMs(shown.view)} />}
          />
          {choice === "custom" ? (
            <TextField
              label={`End, in ${zoneName(zone, shown.asOf)}`}
              type="datetime-local"
              value={typed}
              maxLength={MAX_DATE_CHARS}
              onChange={setTyped}
              error={shown.tried ? draftOf(shown).problem : null}
            />
          ) : null}
          <RegionChecks name={target.name} verb="pause" twins={twins} done={shown.done} />
        </>
      )}
    </ControlDialog>
  );
}

/** The reason of a choice that is not open stands once, in the hint below all of them. */
function inlineChoice({ value, label, disabled }: { value: PauseChoice; label: string; disabled?: string }) {
  return { value, label, disabled: disabled === undefined ? undefined : "not your role" };
}

function PauseFacts({ shown: { view, asOf } }: { shown: Shown<PausableView> }) {
  return (
    <Facts asOf={asOf}>
      <Fact label="State">
        {view.pause.until === null ? (
          "Not paused"
        ) : (
          <>
            Paused until <Timestamp iso={view.pause.until} named plain /> by {actorWords(view.pause.by)}:{" "}
            {view.pause.reason ?? "no reason stored"}
          </>
        )}
      </Fact>
      <Fact label="In flight">{view.inFlight}</Fact>
      <Fact label="Due now">
        <CountAndAge value={view.due} />
      </Fact>
      <Fact label="Held now">
        <CountAndAge value={view.held} />
      </Fact>
      {view.gated.count === 0 ? null : (
        <Fact label="Behind a gate or breaker">
          <CountAndAge value={view.gated} />
        </Fact>
      )}
      {"destinations" in view ? <Fact label="Destinations">{view.destinations}</Fact> : null}
    </Facts>
  );
}

function pausedAll(views: readonly PausableView[]): boolean {
  return views.every(({ pause }) => pause.until !== null);
}

interface PauseEffectsProps {
  view: PausableView;
  where: string;
  /** It is paused already. */
  extends: boolean;
}

function PauseEffects({ view, where, extends: extending }: PauseEffectsProps) {
  const flight =
    view.inFlight === 0
      ? "Nothing is in flight now."
      : `In flight now: ${view.inFlight}. They finish, within ${formatLength(view.requestDeadlineMs)}.`;
  return (
    <Effects>
      <li>No delivery of {where} begins until the end of the pause. Everybody else goes on.</li>
      <li>{flight}</li>
      <li>New events are still accepted, and held. Nothing is dropped.</li>
      <li>
        Retry times are kept. At the end of the pause, or on resume, what is due leaves slowly at first.
      </li>
      {!extending ? null : <li>It is paused already: this moves the end and takes the new reason.</li>}
    </Effects>
  );
}

function EndHint({ draft, maxPauseMs }: { draft: PauseDraft; maxPauseMs: number | undefined }) {
  const most = maxPauseMs === undefined ? null : `${mostWords(maxPauseMs)}.`;
  if (draft.endMs === null) return most;
  return (
    <>
      Ends by itself at <Timestamp iso={new Date(draft.endMs).toISOString()} named plain />. {most}
    </>
  );
}

function buttonWords(extending: boolean, choice: PauseChoice, draft: PauseDraft, zone: Zone): string {
  const verb = extending ? "Extend pause" : "Pause";
  const length = lengthWords(choice);
  if (length !== null) return `${verb} ${length}`;
  if (draft.endMs === null) return verb;
  const iso = new Date(draft.endMs).toISOString();
  return `${verb} until ${formatInstant(iso, zone)} ${zoneName(zone, iso)}`;
}

/** For other dialogs of things that hold work. */
export function heldWords(view: PausableView): string {
  return view.held.count === 0 ? "nothing is held" : `${boundedWords(view.held)} held`;
}
