"use client";
/**
 * One batch: as a draft its steps, then its review, its run, and what came of it. What the page shows is the API's; it decides
 * nothing about what may be done.
 */
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useReplay } from "#components/queries/replays.ts";
import { ReplayDraft } from "#components/replay-draft/replay-draft.tsx";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { Missing } from "#components/tenants/missing.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { oneOf, type ParameterTests, SHARED_PARAMETERS } from "#components/ui/list-parameters.ts";
import { REGIONS } from "#domain/region.ts";
import { isEnded, REPLAY_ITEM_STATES } from "#domain/replay.ts";
import { BatchHeader } from "./batch-header.tsx";
import { Events } from "./events.tsx";
import { Items } from "./items.tsx";
import { Lanes } from "./lanes.tsx";
import { Report } from "./report.tsx";
import { Review } from "./review.tsx";
import { Run } from "./run.tsx";

const PARAMETERS: ParameterTests = {
  region: SHARED_PARAMETERS.region,
  cursor: SHARED_PARAMETERS.cursor,
  destination: SHARED_PARAMETERS.destination,
  state: oneOf(REPLAY_ITEM_STATES),
};

/** `id` is `rpl_...` from the address. */
export function ReplayPage({ id }: { id: string }) {
  const [query, setQuery] = useQueryStates(
    {
      region: parseAsStringLiteral(REGIONS),
      cursor: parseAsString,
      destination: parseAsString,
      state: parseAsStringLiteral(REPLAY_ITEM_STATES),
    },
    { history: "push" },
  );
  const region = useListRegion(query.region);
  const read = useReplay(region, id);
  const answer = read.isPlaceholderData ? undefined : read.data;
  if (answer?.status !== "ok") {
    return (
      <Missing
        what="batch"
        region={region}
        error={read.error}
        answer={answer}
        onRetry={() => void read.refetch()}
      />
    );
  }
  const view = answer.data;
  const seen = { region, view, asOf: answer.asOf };
  // What was typed into one draft must not stand in the next one.
  if (view.state === "draft") return <ReplayDraft key={view.id} {...seen} />;
  const waits = view.state === "in_review" || view.state === "approved";
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <BatchHeader {...seen} />
      <DroppedChips known={PARAMETERS} />
      {waits ? <Review {...seen} /> : null}
      {isEnded(view.state) && view.startedAt !== null ? <Report {...seen} /> : null}
      {view.startedAt === null ? null : <Run {...seen} />}
      <Lanes {...seen} />
      <Items
        region={region}
        id={view.id}
        lanes={view.lanes}
        filters={{ state: query.state, destination: query.destination, cursor: query.cursor }}
        onChange={(change) => void setQuery(change as Partial<typeof query>)}
      />
      <Events region={region} view={view} />
    </div>
  );
}
