/** Something that people or the product did to the delivery or to what it belongs to, as an entry of the timeline. */
import Link from "next/link";
import { actorWords } from "#components/ui/actor-words.ts";
import type { Annotation } from "#db/console/read-annotations.ts";
import type { Region } from "#domain/region.ts";
import { TimelineItem } from "./timeline-item.tsx";

const TARGET_WORDS: Readonly<Record<Annotation["target"], string>> = {
  delivery: "this delivery",
  dead_letter: "this dead letter",
  payload: "its payload",
  tenant: "its tenant",
  destination: "its destination",
  region: "its region",
};

const RESULT_WORDS: Readonly<Record<Annotation["result"], string>> = {
  done: "",
  denied: ", refused",
  conflict: ", not done",
};

export function AnnotationItem({ annotation, region }: { annotation: Annotation; region: Region }) {
  const { action, target, result, actor, role, reason } = annotation;
  return (
    <TimelineItem
      tone="unknown"
      at={annotation.at}
      title={`${actionWords(action)} ${TARGET_WORDS[target]}${RESULT_WORDS[result]}`}
    >
      <p className="text-muted text-table">
        {actorWords(actor)} ({role}): {reason}{" "}
        <Link
          href={`/audit?region=${region}&target=${annotation.targetId}`}
          prefetch={false}
          className="underline underline-offset-4"
        >
          audit
        </Link>
      </p>
    </TimelineItem>
  );
}

/** "tenant.pause" -> "Pause:", "delivery.retry_now" -> "Retry now:". */
export function actionWords(action: string): string {
  const verb = action.slice(action.indexOf(".") + 1).replaceAll("_", " ");
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)}:`;
}
