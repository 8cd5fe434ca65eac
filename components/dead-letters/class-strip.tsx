"use client";
/**
 * The dead letters by class, so that hundreds of refused bodies and one destination that is down are told apart before
 * anything is read. Each tile is a filter. A region that does not answer has no numbers here.
 */
import { cx } from "#components/ui/cx.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toneText } from "#components/ui/status.tsx";
import type { DeadLetterGroupPage } from "#db/console/list-dead-letter-groups.ts";
import { DEAD_CLASSES, type DeadClass } from "#domain/delivery.ts";
import { CLASS_WORDS } from "./cause-words.ts";

export interface ClassStripProps {
  /** Null: not known; "reading": nothing has been answered yet. */
  page: Pick<DeadLetterGroupPage, "classes" | "entriesMore"> | "reading" | null;
  chosen: string | null;
  /** Null: every class. */
  onChoose: (reasonClass: DeadClass | null) => void;
}

export function ClassStrip({ page, chosen, onChoose }: ClassStripProps) {
  const reading = page === "reading";
  const known = reading ? null : page;
  return (
    <fieldset
      aria-busy={reading}
      className="grid grid-cols-4 gap-px overflow-hidden rounded-lg border border-line bg-line max-lg:grid-cols-2"
    >
      <legend className="sr-only">Dead letters by class</legend>
      {DEAD_CLASSES.map((reasonClass) => (
        <ClassTile
          key={reasonClass}
          reasonClass={reasonClass}
          total={known?.classes.find((one) => one.reasonClass === reasonClass) ?? null}
          more={known?.entriesMore ?? false}
          reading={reading}
          pressed={chosen === reasonClass}
          onPress={() => onChoose(chosen === reasonClass ? null : reasonClass)}
        />
      ))}
    </fieldset>
  );
}

interface ClassTileProps {
  reasonClass: DeadClass;
  total: { causes: number; entries: number } | null;
  /** The entries are counted up to a limit only. */
  more: boolean;
  reading: boolean;
  pressed: boolean;
  onPress: () => void;
}

function ClassTile({ reasonClass, total, more, reading, pressed, onPress }: ClassTileProps) {
  const { label, tone, icon: Icon, means } = CLASS_WORDS[reasonClass];
  const some = total !== null && total.entries > 0;
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onPress}
      className={cx(
        "flex min-w-0 flex-col items-start gap-0.5 px-4 py-3 text-left outline-offset-[-2px] hover:bg-hover",
        pressed ? "bg-accent-soft" : "bg-surface",
      )}
    >
      <span className="flex items-center gap-1.5 text-table">
        <Icon aria-hidden="true" className={cx("size-3.5 shrink-0", some ? toneText(tone) : "text-faint")} />
        <span className="font-medium">{label}</span>
        <span className="truncate text-faint max-sm:hidden">{means}</span>
      </span>
      {reading ? (
        <Skeleton className="my-1 h-10 w-16" />
      ) : (
        <>
          <span className="font-semibold text-figure tracking-tight">
            {total === null ? "–" : `${formatCount(total.entries)}${more && some ? "+" : ""}`}
          </span>
          <span className="text-muted text-table">
            {total === null ? "not known" : some ? `in ${plural(total.causes, "cause")}` : "none"}
          </span>
        </>
      )}
    </button>
  );
}
