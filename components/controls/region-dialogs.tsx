"use client";
/**
 * Stop and start the claims of a whole region. Stopping needs the region's name typed, lists whom it reaches, and then
 * shows how the leases run out: nobody may switch versions before the count has proved that none is left.
 */
import { useState } from "react";
import { actorWords } from "#components/ui/actor-words.ts";
import { TextField } from "#components/ui/field.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { RegionControlView } from "#db/console/control-views.ts";
import { formatLength } from "#domain/queue-age.ts";
import { AnswerMessage, AuditLink } from "./answer-toast.tsx";
import { ControlDialog, type Shown } from "./control-dialog.tsx";
import type { ControlRequest } from "./control-request.ts";
import { boundedWords } from "./control-words.ts";
import { CountAndAge, Effects, Fact, Facts } from "./dialog-parts.tsx";
import { DrainPanel } from "./drain-panel.tsx";
import { typedProblem } from "./typed-name.ts";

interface DialogProps {
  request: ControlRequest;
  onClose: () => void;
}

const MAX_REGION_CHARS = 20;

export function StopClaimsDialog({ request, onClose }: DialogProps) {
  const [typed, setTyped] = useState("");
  const { region } = request.target;
  return (
    <ControlDialog<RegionControlView>
      request={request}
      onClose={onClose}
      danger
      wide
      plan={({ view }) => ({
        body: needsName(view) ? { typed: typed.trim().toLowerCase() } : {},
        button: `Stop claims for ${count(view.tenantCount, "tenant")}`,
        problem: view.claims === "stopped" ? "Claims are stopped already." : nameProblem(view, typed),
      })}
      result={(answer) => (
        <div className="grid gap-4">
          <p>
            <AnswerMessage request={request} answer={answer} />
          </p>
          <DrainPanel region={region} />
          <AuditLink request={request} auditId={answer.auditId} />
        </div>
      )}
    >
      {(shown) => (
        <>
          <RegionFacts shown={shown} />
          <Effects>
            <li>
              No delivery of any tenant in {region.toUpperCase()} begins until claims are started again.
            </li>
            <li>
              In flight now: {shown.view.inFlight}. They finish, within{" "}
              {formatLength(shown.view.requestDeadlineMs)}; what a lost worker held comes back when its lease
              ends.
            </li>
            <li>
              New events are still accepted, and held. It has no end of its own: a banner stands until it is
              over.
            </li>
          </Effects>
          <ReachedTenants view={shown.view} />
          <NameField shown={shown} typed={typed} onType={setTyped} />
        </>
      )}
    </ControlDialog>
  );
}

export function StartClaimsDialog({ request, onClose }: DialogProps) {
  const [typed, setTyped] = useState("");
  return (
    <ControlDialog<RegionControlView>
      request={request}
      onClose={onClose}
      wide
      plan={({ view }) => ({
        body: needsName(view) ? { typed: typed.trim().toLowerCase() } : {},
        button: `Start claims, releasing ${boundedWords(view.held)} held`,
        problem: view.claims === "on" ? "Claims are not stopped any more." : nameProblem(view, typed),
      })}
    >
      {(shown) => (
        <>
          <RegionFacts shown={shown} />
          <Effects>
            <li>Workers take up work at once, within every cap and rate.</li>
            <li>
              A destination whose adaptive limit was feeling its way up goes on at the last value known to be
              safe.
            </li>
            <li>Tenants and destinations that are paused stay paused.</li>
          </Effects>
          <NameField shown={shown} typed={typed} onType={setTyped} />
        </>
      )}
    </ControlDialog>
  );
}

function NameField({
  shown: { view, tried },
  typed,
  onType,
}: {
  shown: Shown<RegionControlView>;
  typed: string;
  onType: (typed: string) => void;
}) {
  if (!needsName(view)) return null;
  return (
    <TextField
      label={`Type ${view.region.toUpperCase()} to confirm the region`}
      mono
      value={typed}
      maxLength={MAX_REGION_CHARS}
      onChange={onType}
      error={tried ? nameProblem(view, typed) : null}
    />
  );
}

function needsName({ permit }: RegionControlView): boolean {
  return permit.region_claims?.typed === true;
}

function nameProblem(view: RegionControlView, typed: string): string | null {
  return needsName(view) ? typedProblem(typed, view.region) : null;
}

function RegionFacts({ shown: { view, asOf } }: { shown: Shown<RegionControlView> }) {
  return (
    <Facts asOf={asOf}>
      <Fact label="Claims">
        {view.stopped === null ? (
          "On"
        ) : (
          <>
            Stopped since <Timestamp iso={view.stopped.at} named plain /> by {actorWords(view.stopped.by)}:{" "}
            {view.stopped.reason ?? "no reason stored"}
          </>
        )}
      </Fact>
      <Fact label="Workers">{view.workers}</Fact>
      <Fact label="In flight">
        {view.inFlight}
        {view.lastLeaseUntil === null ? null : (
          <>
            , last lease until <Timestamp iso={view.lastLeaseUntil} form="clock" named plain />
          </>
        )}
      </Fact>
      <Fact label="Due now">
        <CountAndAge value={view.due} />
      </Fact>
      <Fact label="Held now">
        <CountAndAge value={view.held} />
      </Fact>
    </Facts>
  );
}

/** Every tenant of the region is reached; those with requests in flight are named. */
function ReachedTenants({ view }: { view: RegionControlView }) {
  return (
    <section aria-label="Tenants that are reached" className="rounded-md border border-line px-3 py-2">
      <p className="font-medium text-table">
        Reaches {view.tenantCount === 1 ? "the one tenant" : `all ${count(view.tenantCount, "tenant")}`} of
        the region
      </p>
      {view.tenants.length === 0 ? (
        <p className="text-muted text-table">None of them has a request in flight now.</p>
      ) : (
        <ul className="scroll-quiet mt-1 grid max-h-36 gap-x-4 overflow-y-auto text-table sm:grid-cols-2">
          {view.tenants.map((tenant) => (
            <li key={tenant.id} className="flex justify-between gap-2">
              <span className="truncate">{tenant.name}</span>
              <span className="shrink-0 text-muted">{tenant.inFlight} in flight</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function count(value: number, what: string): string {
  return `${value.toLocaleString("en-GB")} ${what}${value === 1 ? "" : "s"}`;
}
