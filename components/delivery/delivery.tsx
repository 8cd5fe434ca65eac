"use client";
/** One delivery: where it is, why, and everything that happened to it. */
import Link from "next/link";
import { DeliveryControls } from "#components/controls/delivery-controls.tsx";
import { useDelivery } from "#components/queries/deliveries.ts";
import { ProblemError } from "#components/queries/fetch-json.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { cx } from "#components/ui/cx.ts";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusBadge } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { reasonWords, STATE_WORDS } from "#components/ui/words.ts";
import type { DeliveryAnswer } from "#db/console/read-delivery.ts";
import { ExchangePanel } from "./exchange-panel.tsx";
import { FactsPanel } from "./facts-panel.tsx";
import { NextAttemptsPanel } from "./next-attempts.tsx";
import { RawJson } from "./raw-json.tsx";
import { StateSteps } from "./state-steps.tsx";
import { Timeline } from "./timeline.tsx";
import { WhyPanel } from "./why-panel.tsx";

/** `id` is the public id from the address; `traceUrl` is where a trace id leads to, or null. */
export function DeliveryPage({ id, traceUrl }: { id: string; traceUrl: string | null }) {
  const query = useDelivery(id);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Header id={id} answer={query.data ?? null} />
      <DeliveryView id={id} traceUrl={traceUrl} />
    </div>
  );
}

export interface DeliveryViewProps {
  id: string;
  traceUrl: string | null;
  /** One column, for the side panel. */
  narrow?: boolean;
}

/** Everything about the delivery but its heading. */
export function DeliveryView({ id, traceUrl, narrow = false }: DeliveryViewProps) {
  const query = useDelivery(id);
  const stale = useBehind();
  if (query.data === undefined) {
    return <Missing id={id} error={query.error} retry={() => void query.refetch()} />;
  }
  return <Found answer={query.data} stale={stale} traceUrl={traceUrl} narrow={narrow} />;
}

function Header({ id, answer }: { id: string; answer: DeliveryAnswer | null }) {
  const delivery = answer?.delivery ?? null;
  const state = delivery === null ? null : STATE_WORDS[delivery.state];
  return (
    <header>
      <nav aria-label="Breadcrumb" className="text-muted text-table">
        <Link
          href={`/deliveries${answer === null ? "" : `?region=${answer.region}`}`}
          prefetch={false}
          className="underline-offset-4 hover:underline"
        >
          Deliveries{answer === null ? "" : ` in ${answer.region.toUpperCase()}`}
        </Link>
      </nav>
      <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="flex min-w-0 items-center gap-1 font-mono font-semibold text-body tracking-tight md:text-figure">
          <span className="min-w-0 break-all">{id}</span>
          <CopyButton text={id} what="delivery id" />
        </h1>
        {state === null ? null : <StatusBadge tone={state.tone} icon={state.icon} label={state.label} />}
        {delivery?.reason ? <span className="text-muted">{reasonWords(delivery.reason)}</span> : null}
        {answer === null ? null : (
          <span className="text-faint text-table md:ml-auto">
            as of <Timestamp iso={answer.asOf} form="clock" named />
          </span>
        )}
      </div>
    </header>
  );
}

interface FoundProps {
  answer: DeliveryAnswer;
  stale: boolean;
  traceUrl: string | null;
  narrow: boolean;
}

function Found({ answer, stale, traceUrl, narrow }: FoundProps) {
  const { delivery } = answer;
  const columns = narrow ? "" : "lg:grid-cols-[minmax(0,1fr)_20rem]";
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <StateSteps delivery={delivery} attempts={answer.attempts} />
        <DeliveryControls region={delivery.region} deliveryId={delivery.id} />
      </div>
      <WhyPanel delivery={delivery} asOf={answer.asOf} />
      <div className={cx("grid grid-cols-[minmax(0,1fr)] items-start gap-4", columns)}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
          <Timeline answer={answer} stale={stale} />
          {delivery.next === null ? null : <NextAttemptsPanel next={delivery.next} stale={stale} />}
          <ExchangePanel answer={answer} stale={stale} />
          <RawJson id={delivery.id} />
        </div>
        <FactsPanel delivery={delivery} stale={stale} traceUrl={traceUrl} />
      </div>
    </>
  );
}

function Missing({ id, error, retry }: { id: string; error: Error | null; retry: () => void }) {
  if (error === null) return <DeliverySkeleton />;
  const problem = error instanceof ProblemError ? error.problem : null;
  if (problem?.code === "not_found" || problem?.code === "bad_id") {
    return (
      <Notice
        kind="no-match"
        title={problem.code === "not_found" ? "No such delivery" : "This is not a delivery id"}
      >
        {problem.code === "not_found"
          ? "Every region that you may see answered, and none of them has it. Retention removes finished deliveries after their time."
          : `An id is dlv_ and 32 hex digits; the address says ${id.slice(0, 60)}.`}
      </Notice>
    );
  }
  return <ErrorNotice error={error} onRetry={retry} />;
}

function DeliverySkeleton() {
  return (
    <div aria-hidden="true" className="grid gap-4">
      <Skeleton className="h-7 w-full max-w-80" />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Skeleton className="h-96 w-full" />
        <Skeleton className="h-96 w-full" />
      </div>
    </div>
  );
}
