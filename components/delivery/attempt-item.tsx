/** One attempt: what came back, who sent it, and how the next due time was found. */
import type { ReactNode } from "react";
import { formatBytes, formatCount } from "#components/ui/format.ts";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { outcomeWords } from "#components/ui/words.ts";
import type { AttemptEntry } from "#db/console/read-attempts.ts";
import { formatAge } from "#domain/queue-age.ts";
import { retryLines } from "./retry-words.ts";
import { TimelineItem } from "./timeline-item.tsx";

/** The response body is never here: only its size and type are known to this page. */
export function AttemptItem({ attempt }: { attempt: AttemptEntry }) {
  const words = outcomeWords(attempt.outcome);
  const lines = retryLines(attempt);
  return (
    <TimelineItem
      tone={words.tone}
      at={attempt.startedAt}
      aside={attempt.kind === "http" ? <span>{formatCount(attempt.durationMs)} ms</span> : null}
      title={
        <span className="inline-flex flex-wrap items-center gap-x-2">
          {attempt.kind === "not_sent" ? "Ended without a request" : `Attempt ${attempt.number}`}
          <StatusText
            tone={words.tone}
            icon={words.icon}
            label={attempt.status === null ? words.label : `${attempt.status} ${words.label}`}
          />
        </span>
      }
    >
      <p className="text-muted text-table">{factsOf(attempt)}</p>
      {attempt.errorCode || attempt.errorDetail ? (
        <p className="mt-1 break-words font-mono text-muted text-table">
          {[attempt.errorCode, attempt.errorDetail].filter(Boolean).join(": ")}
        </p>
      ) : null}
      {lines.length > 0 || attempt.nextDueAt !== null ? (
        <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 rounded-md bg-subtle px-3 py-2 text-table">
          {lines.map((line) => (
            <Fact key={line.label} label={line.label}>
              {line.raw === undefined ? null : (
                <code className="mr-2 break-all rounded-sm border border-line bg-surface px-1 font-mono">
                  {line.raw}
                </code>
              )}
              {line.text}
            </Fact>
          ))}
          {attempt.nextDueAt === null ? null : (
            <Fact label="Next due">
              <Timestamp iso={attempt.nextDueAt} form="exact" named />
            </Fact>
          )}
        </dl>
      ) : null}
    </TimelineItem>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

function factsOf(attempt: AttemptEntry): string {
  const lateMs = Date.parse(attempt.startedAt) - Date.parse(attempt.dueAt);
  const facts = [`${attempt.lane} lane`];
  if (attempt.kind === "http" && lateMs >= 0) facts.push(`started ${formatAge(lateMs)} after it was due`);
  if (attempt.cycle > 1) facts.push(`cycle ${attempt.cycle}`);
  if (attempt.replay !== null) facts.push(`replay batch ${attempt.replay.name}`);
  if (attempt.worker !== null) facts.push(`claimed by ${attempt.worker}`);
  if (attempt.kind === "lease_expired")
    facts.push("the lease ended without an outcome; same key, next attempt");
  if (attempt.kind === "stale_result") facts.push("the lease stood no longer: nothing was changed by it");
  if (attempt.kind === "http") facts.push(failureOf(attempt));
  if (attempt.response !== null) facts.push(responseOf(attempt.response));
  return facts.join(" · ");
}

function responseOf(response: NonNullable<AttemptEntry["response"]>): string {
  const type = response.contentType ?? "no content type";
  return `response ${formatBytes(response.bytes)}${response.truncated ? ", truncated" : ""}, ${type}, hidden`;
}

function failureOf(attempt: AttemptEntry): string {
  if (attempt.decision === "delivered") return "acknowledged";
  return attempt.countedFailure ? "counts as a failure" : "does not count as a failure";
}
