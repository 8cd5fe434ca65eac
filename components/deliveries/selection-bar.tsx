"use client";
/**
 * What is ticked, and what can be done with it: copy, export, and one command for each. What the role or the rows do not
 * allow stays in sight, shut, with the reason beside it. A button changes nothing by itself: it opens a dialog.
 */
import dynamic from "next/dynamic";
import { useId, useState } from "react";
import { ControlButton } from "#components/controls/control-bar.tsx";
import { groupReasons } from "#components/controls/permit-words.ts";
import { namedExportPath } from "#components/queries/deliveries.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { ExportLinks } from "#components/ui/export-links.tsx";
import { plural } from "#components/ui/format.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { MAX_NAMED_DELIVERIES } from "#domain/delivery-filter.ts";
import type { Region } from "#domain/region.ts";
import { type BulkVerb, bulkRefusal } from "./bulk.ts";
import type { Selection } from "./use-selection.ts";

/** Loaded when it is first opened: the list itself stays small. */
const BulkDialog = dynamic(() => import("./bulk-dialog.tsx"), { ssr: false });

const LABELS: Readonly<Record<BulkVerb, string>> = { "retry-now": "Retry each now", cancel: "Cancel each" };
const VERBS = ["retry-now", "cancel"] as const;

export interface SelectionBarProps {
  selection: Selection;
  region: Region;
  /** The rows that are shown: what is no longer among them does not count. */
  rows: readonly DeliveryRow[];
}

/** Nothing while nothing is ticked. */
export function SelectionBar({ selection, region, rows }: SelectionBarProps) {
  const ticked = rows.filter(({ id }) => selection.ids.has(id));
  // What was ticked when the dialog opened is what it is about, however the list goes on behind it.
  const [open, setOpen] = useState<{ verb: BulkVerb; rows: readonly DeliveryRow[] } | null>(null);
  return (
    <>
      {ticked.length === 0 ? null : (
        <Bar
          ticked={ticked}
          region={region}
          onOpen={(verb) => setOpen({ verb, rows: ticked })}
          onClear={() => selection.clear()}
        />
      )}
      {open === null ? null : (
        <BulkDialog
          {...open}
          region={region}
          onClose={(asked) => {
            setOpen(null);
            if (asked) selection.clear();
          }}
        />
      )}
    </>
  );
}

interface BarProps {
  ticked: readonly DeliveryRow[];
  region: Region;
  onOpen: (verb: BulkVerb) => void;
  onClear: () => void;
}

function Bar({ ticked, region, onOpen, onClear }: BarProps) {
  const id = useId();
  const actions = useSignedIn()?.actions ?? [];
  const ids = ticked.map((row) => row.id);
  const count = ids.length;
  const reasons = groupReasons(
    VERBS.map((verb) => ({ key: verb, label: LABELS[verb], reason: bulkRefusal(verb, ticked, actions) })),
  );
  return (
    <div className="grid gap-1 border-line border-b bg-accent-soft px-4 py-1.5 text-table">
      <div className="flex flex-wrap items-center gap-2">
        <span role="status" className="font-medium">
          {plural(count, "delivery", "deliveries")} of this page selected
        </span>
        <span className="inline-flex items-center gap-1 text-muted">
          Copy the ids
          <CopyButton text={ids.join("\n")} what={count === 1 ? "delivery id" : "delivery ids"} />
        </span>
        {count > MAX_NAMED_DELIVERIES ? null : (
          <span className="inline-flex items-center gap-1 text-muted">
            Export them
            <ExportLinks path={namedExportPath(region, ids)} what="selected deliveries" />
          </span>
        )}
        {VERBS.map((verb) => {
          const at = reasons.findIndex((reason) => reason.keys.includes(verb));
          return (
            <ControlButton
              key={verb}
              label={LABELS[verb]}
              describedBy={at === -1 ? undefined : `${id}-${at}`}
              onPress={() => onOpen(verb)}
            />
          );
        })}
        <Button variant="quiet" onClick={onClear}>
          Clear the selection
        </Button>
      </div>
      {reasons.map((reason, at) => (
        <p key={reason.text} id={`${id}-${at}`} className="text-muted">
          {reason.text}
        </p>
      ))}
    </div>
  );
}
