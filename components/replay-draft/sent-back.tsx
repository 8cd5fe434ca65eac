/** That a second person asked for changes, and what they wrote; or that this batch follows another one. */

import { Follows } from "#components/replays/follows.tsx";
import { actorWords } from "#components/ui/actor-words.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";

export function SentBack({ view, region }: { view: ReplayDetail; region: Region }) {
  const { diff, parent } = view;
  return (
    <>
      {diff === null || diff.requestedBy === null ? null : (
        <div role="note" className="rounded-md bg-warn-soft px-3 py-2.5">
          <p className="font-medium">
            {actorWords(diff.requestedBy)} asked for changes
            {diff.requestedAt === null ? null : (
              <>
                {" "}
                at <Timestamp iso={diff.requestedAt} named />
              </>
            )}
          </p>
          {diff.comment === null ? null : <p className="break-words">{diff.comment}</p>}
        </div>
      )}
      <Follows parent={parent} region={region} />
    </>
  );
}
