"use client";
/** End a pause before its time, with a share for what has piled up, so that a receiver is not flooded. */
import { useState } from "react";
import { actorWords } from "#components/ui/actor-words.ts";
import { ChoiceField } from "#components/ui/field-choice.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { drainTimeMs } from "#domain/drain-time.ts";
import { formatAge } from "#domain/queue-age.ts";
import { DEFAULT_RESUME_SHARE } from "./bounds.ts";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { boundedWords, titleIn } from "./control-words.ts";
import { CountAndAge, Effects, Fact, Facts, Warning } from "./dialog-parts.tsx";
import type { PausableView } from "./pause-dialog.tsx";
import { RegionChecks } from "./region-checks.tsx";
import { regionParts, whereOfRegions } from "./region-parts.ts";
import { rampedDrainMs, rampWords } from "./resume-estimate.ts";
import { useTwins } from "./use-twins.ts";

const SHARES = ["0.1", "0.2", "0.5", "1"] as const;
type ShareChoice = (typeof SHARES)[number];
const DEFAULT_CHOICE = String(DEFAULT_RESUME_SHARE) as ShareChoice;

export function ResumeDialog({ request, onClose }: { request: ControlRequest; onClose: () => void }) {
  const [choice, setChoice] = useState<ShareChoice>(DEFAULT_CHOICE);
  const share = Number(choice);
  const { target } = request;
  const twins = useTwins(target);
  const where = whereOfRegions(target.name, [target.region, ...twins.chosen.map(({ region }) => region)]);
  return (
    <ControlDialog<PausableView>
      request={request}
      onClose={onClose}
      title={titleIn("resume", where)}
      onReload={twins.again}
      plan={({ view, done }) => ({
        body: { share },
        parts: regionParts(request, { share }, view.version, twins.chosen),
        button: view.held.count === 0 ? "Resume" : `Resume ${boundedWords(view.held)} held`,
        problem:
          view.pause.until === null && !done.includes(target.region)
            ? "It is not paused any more. Close this and look again."
            : twins.problem,
      })}
    >
      {(shown) => (
        <>
          <ResumeFacts shown={shown} share={share} />
          <Effects>
            <li>New events pass at once.</li>
            <li>
              What was due before the resume begins with a part of cap and rate: {rampWords(share)}. It cannot
              exceed them.
            </li>
            <li>Retry times are kept: what is not due yet still waits.</li>
          </Effects>
          <ResumeWarnings view={shown.view} />
          <ChoiceField
            legend="Begin with"
            inline
            value={choice}
            choices={SHARES.map((value) => ({ value, label: `${Number(value) * 100} %` }))}
            onChange={setChoice}
            hint="100 %: no ramp. Cap and rate still hold."
          />
          <RegionChecks name={target.name} verb="resume" twins={twins} done={shown.done} />
        </>
      )}
    </ControlDialog>
  );
}

function ResumeFacts({ shown: { view, asOf }, share }: { shown: Shown<PausableView>; share: number }) {
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
      <Fact label="Held now">
        <CountAndAge value={view.held} />
      </Fact>
      {view.gated.count === 0 ? null : (
        <Fact label="Behind a gate or breaker">
          <CountAndAge value={view.gated} />
        </Fact>
      )}
      <Fact label="Estimated time">{estimateWords(view, share)}</Fact>
    </Facts>
  );
}

function estimateWords(view: PausableView, share: number): string {
  const { waiting, waitingMore } = view.drain;
  if (waiting === 0) return "nothing waits";
  const ms = rampedDrainMs(drainTimeMs(view.drain), share);
  if (ms === null) return "not known: no request was answered lately";
  return `${waitingMore ? "more than " : "about "}${formatAge(ms)}, while nothing new comes in`;
}

function ResumeWarnings({ view }: { view: PausableView }) {
  if (!("gate" in view)) {
    return view.gated.count === 0 ? null : (
      <Warning>
        {boundedWords(view.gated)} wait behind a shut gate or an open breaker of their destination: they wait
        for that too.
      </Warning>
    );
  }
  return (
    <>
      {view.breaker === null ? null : (
        <Warning>
          The breaker is open: single requests probe this destination until one is answered well.
        </Warning>
      )}
      {view.gate === null ? null : (
        <Warning>
          The gate is shut until <Timestamp iso={view.gate.until} form="clock" named plain />: resumed work
          waits for it.
        </Warning>
      )}
      {view.disabled === null ? null : (
        <Warning>The destination is disabled as well: nothing leaves until it is enabled.</Warning>
      )}
    </>
  );
}
