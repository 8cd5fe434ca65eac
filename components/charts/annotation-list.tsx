/** What people did in the range, each with the letter that stands above its line in the charts. */
import { actorWords } from "#components/ui/actor-words.ts";
import { plural } from "#components/ui/format.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { Annotation } from "#db/console/read-series.ts";
import { letterOf } from "./annotation-marks.ts";
import { annotationWords } from "./annotation-words.ts";

/** A longer list is shut until somebody opens it. */
const OPEN_LIMIT = 5;

export interface AnnotationListProps {
  name: string;
  annotations: readonly Annotation[];
}

/** Open while it is short; nothing where nothing was done. */
export function AnnotationList({ name, annotations }: AnnotationListProps) {
  if (annotations.length === 0) return null;
  return (
    <details className="text-table" open={annotations.length <= OPEN_LIMIT}>
      <summary className="min-h-6 text-muted hover:text-fg">
        What people did in this range, {name}: {plural(annotations.length, "line")}, by the letters above the
        charts
      </summary>
      <ol className="mt-2 grid gap-1.5">
        {annotations.map((annotation, index) => (
          <li key={annotation.id} className="flex flex-wrap gap-x-2">
            <span className="w-6 font-semibold text-held">{letterOf(index)}</span>
            <Timestamp iso={new Date(annotation.t).toISOString()} named />
            <span className="font-medium">
              {annotationWords(annotation.action)}
              {annotation.target === null ? "" : `: ${annotation.target}`}
            </span>
            <span className="min-w-0 break-words text-muted">
              {actorWords(annotation.actor)}: {annotation.reason}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}
