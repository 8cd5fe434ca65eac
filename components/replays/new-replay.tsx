"use client";
/**
 * The first step of a batch: what would be in it, what is left out and why, and its name. The selection ends at the time at
 * which it was chosen, so that the draft can have fewer entries than were counted, if some are gone meanwhile, and never more.
 */
import Link from "next/link";
import { useRouter } from "next/navigation";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { RegionSilent } from "#components/dead-letters/notices.tsx";
import { useReplayPreview } from "#components/queries/replays.ts";
import { useListRegion } from "#components/shell/signed-in.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { DEFAULT_REPLAY_ITEMS, MAX_REPLAY_ITEMS } from "#domain/replay.ts";
import { NewReplayForm } from "./new-replay-form.tsx";
import { PreviewFacts } from "./preview-facts.tsx";
import { SELECTION_PARAMETERS, selectionOf } from "./selection.ts";

const ANY = () => true;
const KNOWN = Object.fromEntries(
  ["region", "limit", ...SELECTION_PARAMETERS].map((name) => [name, ANY]),
) as Readonly<Record<string, (value: string) => boolean>>;

function useNewReplay() {
  const [query, setQuery] = useQueryStates(
    {
      region: parseAsStringLiteral(REGIONS),
      limit: parseAsString,
      ...(Object.fromEntries(SELECTION_PARAMETERS.map((name) => [name, parseAsString])) as Record<
        (typeof SELECTION_PARAMETERS)[number],
        typeof parseAsString
      >),
    },
    { history: "replace" },
  );
  const asked = Number(query.limit ?? DEFAULT_REPLAY_ITEMS);
  const usable = Number.isInteger(asked) && asked >= 1 && asked <= MAX_REPLAY_ITEMS;
  return {
    region: useListRegion(query.region),
    selection: selectionOf(query),
    follow: query.follow,
    limit: usable ? asked : DEFAULT_REPLAY_ITEMS,
    setLimit: (limit: number) => void setQuery({ limit: String(limit) }),
  };
}

export function NewReplayPage() {
  const narrow = useNarrow();
  const { region, selection, follow, limit, setLimit } = useNewReplay();
  const router = useRouter();
  const query = useReplayPreview(region, selection, limit);
  const answer = query.data;
  if (selection === null) return <NothingSelected region={region} />;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DroppedChips known={KNOWN} />
      <Panel
        title={`What would be in it, ${region.toUpperCase()}`}
        note={
          answer?.status === "ok" ? (
            <>
              counted at <Timestamp iso={answer.asOf} form="clock" named />
            </>
          ) : undefined
        }
      >
        {answer?.status === "ok" ? (
          <PreviewFacts preview={answer.data} region={region} onLimit={setLimit} />
        ) : answer?.status === "unavailable" ? (
          <RegionSilent answer={answer} />
        ) : query.error !== null ? (
          <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton className="h-48 w-full" />
        )}
      </Panel>
      {answer?.status !== "ok" || answer.data.items === 0 ? null : narrow ? (
        <ReadOnlyHere />
      ) : (
        <NewReplayForm
          region={region}
          selection={selection}
          limit={limit}
          items={answer.data.items}
          isFollowUp={follow !== null}
          onCreated={(id) => router.push(`/replays/${id}?region=${region}`)}
        />
      )}
    </div>
  );
}

/** A phone is for reviewing and stopping; writing a batch needs to see its parts beside each other. */
export function ReadOnlyHere() {
  return (
    <p role="note" className="rounded-md border border-line bg-subtle px-3 py-2.5 text-table">
      A batch is drafted on a wider screen. Here it can be read; a batch that is out can be reviewed, paused
      and stopped on every screen.
    </p>
  );
}

function NothingSelected({ region }: { region: Region }) {
  const link = "text-accent underline underline-offset-4";
  return (
    <Panel title="Nothing is selected">
      <Notice kind="empty" title="A batch begins at dead letters">
        Open a cause in the{" "}
        <Link href={`/dead-letters?region=${region}`} prefetch={false} className={link}>
          dead letters
        </Link>{" "}
        and choose “Draft replay”, or filter the entries by tenant, destination or reason. There is no batch
        of everything.
      </Notice>
    </Panel>
  );
}
