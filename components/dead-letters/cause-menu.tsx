"use client";
/** What one can do about a cause without opening it. It only leads there: nothing is changed by a choice in it. */
import { useRouter } from "next/navigation";
import { newReplayPath } from "#components/replays/selection.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Menu } from "#components/ui/menu.tsx";
import type { DeadLetterGroupRow } from "#db/console/list-dead-letter-groups.ts";
import { causeWords } from "./cause-words.ts";
import type { DeadLetterFilters } from "./use-dead-letter-filters.ts";

export interface CauseMenuProps {
  row: DeadLetterGroupRow;
  /** The server's time of the list: entries that die later are not meant. */
  asOf: string;
  list: DeadLetterFilters;
}

export function CauseMenu({ row, asOf, list }: CauseMenuProps) {
  const router = useRouter();
  const may = useSignedIn()?.actions.includes("replay_draft") ?? false;
  const refusal = !may
    ? "needs the role support"
    : row.count === row.willNotReplay
      ? "none is left to be replayed"
      : undefined;
  return (
    <Menu
      label={`More about ${causeWords(row).title} #${row.tag}`}
      items={[
        { key: "open", label: "Open the cause", onSelect: () => list.open(row.id) },
        { key: "entries", label: "Its entries", onSelect: () => list.show("entries", row.id) },
        {
          key: "draft",
          label: "Draft replay",
          onSelect: () => router.push(newReplayPath(list.region, { group: row.id, until: asOf })),
          disabled: refusal,
        },
      ]}
    />
  );
}
