"use client";
/** The other regions that a control may be sent to as well, and what came of it in each. */
import { CheckField } from "#components/ui/field-choice.tsx";
import { StatusText } from "#components/ui/status.tsx";
import type { Region } from "#domain/region.ts";
import { AnswerMessage } from "./answer-toast.tsx";
import { CommandError } from "./command-error.tsx";
import { Warning } from "./dialog-parts.tsx";
import { type RegionResult, refuseTwin, resultsWords, twinWords } from "./region-parts.ts";
import type { Twins } from "./use-twins.ts";

export interface RegionChecksProps {
  name: string;
  verb: "pause" | "resume";
  twins: Twins;
  /** Regions in which it is done already: they are not offered again. */
  done: readonly Region[];
}

/** Nothing when there is no other region to choose. */
export function RegionChecks({ name, verb, twins, done }: RegionChecksProps) {
  const open = twins.twins.filter(({ region }) => !done.includes(region));
  if (open.length === 0) {
    return twins.reading ? (
      <p className="text-muted text-table">Looking for {name} in other regions.</p>
    ) : null;
  }
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-table">Also in</legend>
      {open.map((twin) => {
        const { region } = twin;
        const where = region.toUpperCase();
        if (twin.at === "unknown") {
          return (
            <Warning key={region}>
              {where} could not be read. If {name} is there too, this leaves it as it is.
            </Warning>
          );
        }
        const closed = refuseTwin(twin, verb);
        if (closed !== null) {
          return (
            <p key={region} className="text-muted text-table">
              {where}: {closed}
            </p>
          );
        }
        return (
          <CheckField
            key={region}
            label={`${twin.view.name}, ${where}`}
            hint={twinWords(twin)}
            checked={twins.chosen.some((one) => one.region === region)}
            onChange={(checked) => twins.choose(region, checked)}
          />
        );
      })}
    </fieldset>
  );
}

export interface RegionResultsProps {
  results: readonly RegionResult[];
  /** The server's time. */
  nowMs: number;
  /** Reads the present values again and keeps what was typed. */
  onReload: () => void;
}

/** One line for each region: done, or why not. */
export function RegionResults({ results, nowMs, onReload }: RegionResultsProps) {
  if (results.length === 0) return null;
  return (
    <section aria-label="Results by region" className="grid gap-2">
      <p role="status" className="font-medium text-table">
        {resultsWords(results)}
      </p>
      {results.map((result) => (
        <div key={result.region} className="grid gap-1 text-table">
          <StatusText
            tone={result.at === "done" ? "ok" : "danger"}
            label={`${result.region.toUpperCase()}: ${result.at === "done" ? "done" : "failed"}`}
          />
          {result.at === "done" ? (
            <p className="text-muted">
              <AnswerMessage request={result.request} answer={result.answer} />
            </p>
          ) : (
            <CommandError error={result.error} nowMs={nowMs} onReload={onReload} />
          )}
        </div>
      ))}
    </section>
  );
}
