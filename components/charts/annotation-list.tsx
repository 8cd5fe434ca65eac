/** What people did in the range, in the order of the numbers at the lines of the charts. */
import { actorWords } from "#components/ui/actor-words.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { Annotation } from "#db/console/read-series.ts";
import { annotationWords } from "./annotation-words.ts";

export interface AnnotationListProps {
  name: string;
  annotations: readonly Annotation[];
}

/** Nothing where nothing was done. */
export function AnnotationList({ name, annotations }: AnnotationListProps) {
  if (annotations.length === 0) return null;
  return (
    <details className="text-table">
      <summary className="min-h-6 text-muted hover:text-fg">
        What people did in this range, {name} ({annotations.length})
      </summary>
      <ol className="mt-2 grid gap-1.5">
        {annotations.map((annotation, index) => (
          <li key={annotation.id} className="flex flex-wrap gap-x-2">
            <span className="w-6 text-right text-held">{index + 1}</span>
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
