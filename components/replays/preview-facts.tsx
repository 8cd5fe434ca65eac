"use client";
/** What a selection means now: how many, whose, how old, and what is left out and why. */
import { useScope } from "#components/queries/deliveries.ts";
import { Button } from "#components/ui/button.tsx";
import { formatBytes, formatCount, plural } from "#components/ui/format.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { reasonWords } from "#components/ui/words.ts";
import type { Scope } from "#db/console/list-scope.ts";
import type { ReplayPreview } from "#db/console/replay/preview.ts";
import type { Region } from "#domain/region.ts";
import { DEFAULT_REPLAY_ITEMS, MAX_REPLAY_ITEMS } from "#domain/replay.ts";
import { exclusionWords } from "./replay-words.ts";

const NAMES_SHOWN = 6;

export interface PreviewFactsProps {
  preview: ReplayPreview;
  region: Region;
  /** Takes more or fewer of the oldest. */
  onLimit: (limit: number) => void;
}

export function PreviewFacts({ preview, region, onLimit }: PreviewFactsProps) {
  const scope = useScope(region);
  const names = scope.data?.status === "ok" ? scope.data.data : null;
  const { items, matching, matchingIsLowerBound, limit, excluded } = preview;
  const all = `${formatCount(matching)}${matchingIsLowerBound ? "+" : ""}`;
  if (items === 0) {
    return (
      <Notice kind="empty" title="None of them can be replayed" compact>
        {matching === 0 ? "No dead letter matches any more." : `${all} match, all of them are left out.`}
        <Exclusions excluded={excluded} />
      </Notice>
    );
  }
  return (
    <div className="grid gap-4">
      <p className="font-semibold text-figure tracking-tight">
        {plural(items, "dead letter")}
        {matching > items ? (
          <span className="font-normal text-body text-muted"> of {all} that match</span>
        ) : null}
      </p>
      {matching > limit ? <Limit all={matching} limit={limit} onLimit={onLimit} /> : null}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-table">
        <Fact label={plural(preview.tenants.length, "tenant")}>
          {listWords(preview.tenants.map((id) => tenantName(names, id)))}
        </Fact>
        <Fact label={plural(preview.destinations.length, "destination")}>
          {listWords(preview.destinations.map((id) => destinationName(names, id)))}
        </Fact>
        <Fact label="Reasons">
          {listWords(
            Object.entries(preview.reasons).map(([reason, n]) => `${reasonWords(reason)} ${formatCount(n)}`),
          )}
        </Fact>
        {preview.oldestDiedAt === null || preview.newestDiedAt === null ? null : (
          <Fact label="Died">
            <Timestamp iso={preview.oldestDiedAt} named /> to <Timestamp iso={preview.newestDiedAt} named />
          </Fact>
        )}
        <Fact label="Bodies">{formatBytes(preview.payloadBytes)}</Fact>
      </dl>
      <Exclusions excluded={excluded} />
    </div>
  );
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** The oldest so many are taken; who wants others narrows the filter. */
function Limit({ all, limit, onLimit }: { all: number; limit: number; onLimit: (limit: number) => void }) {
  const more = Math.min(all, MAX_REPLAY_ITEMS);
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-table"
    >
      <span>
        The oldest {formatCount(limit)} are taken. A batch holds at most {formatCount(MAX_REPLAY_ITEMS)}{" "}
        entries. Narrow the filter for others.
      </span>
      {limit < more ? (
        <Button onClick={() => onLimit(more)}>Take the oldest {formatCount(more)}</Button>
      ) : null}
      {limit > DEFAULT_REPLAY_ITEMS ? (
        <Button onClick={() => onLimit(DEFAULT_REPLAY_ITEMS)}>
          Take the oldest {formatCount(DEFAULT_REPLAY_ITEMS)}
        </Button>
      ) : null}
    </div>
  );
}

/** Entries that match and stay where they are, with the reason. */
export function Exclusions({ excluded }: { excluded: Readonly<Record<string, number>> }) {
  const each = Object.entries(excluded).filter(([, n]) => n > 0);
  if (each.length === 0) return null;
  return (
    <section aria-label="Left out" className="text-table">
      <h3 className="font-medium">Left out, and why</h3>
      <ul className="mt-1 grid gap-0.5">
        {each.map(([why, n]) => (
          <li key={why}>
            {formatCount(n)} {exclusionWords(why)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function listWords(words: readonly string[]): string {
  const shown = words.slice(0, NAMES_SHOWN).join(", ");
  return words.length > NAMES_SHOWN ? `${shown} and ${formatCount(words.length - NAMES_SHOWN)} more` : shown;
}

function tenantName(scope: Scope | null, id: string): string {
  return scope?.tenants.find((tenant) => tenant.id === id)?.name ?? `…${id.slice(-6)}`;
}

function destinationName(scope: Scope | null, id: string): string {
  const name = scope?.tenants.flatMap((tenant) => tenant.destinations).find((one) => one.id === id)?.name;
  return name ?? `…${id.slice(-6)}`;
}
