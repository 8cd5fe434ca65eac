"use client";
/**
 * The saved views of a list: one's own and shared ones, and saving the filters of the present address. A view keeps filters
 * only; a relative range stays relative.
 */
import { useQueryClient } from "@tanstack/react-query";
import { Bookmark, Trash2 } from "lucide-react";
import Link from "next/link";
import { useSearchParams } from "next/navigation";
import { useId, useRef, useState } from "react";
import { postJson } from "#components/queries/post-json.ts";
import { deleteJson, failureWords } from "#components/queries/send-json.ts";
import { SAVED_VIEWS_PATH, useSavedViews, useViewCount } from "#components/queries/shell.ts";
import { IconButton } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { formatCount } from "#components/ui/format.ts";
import { useToast } from "#components/ui/toast.tsx";
import type { SavedView, SavedViews as Views } from "#db/console/saved-views.ts";
import type { SavedViewPage } from "#domain/saved-view.ts";
import { SaveViewForm } from "./save-view-form.tsx";
import { useListRegion } from "./signed-in.tsx";

export interface SavedViewsProps {
  page: SavedViewPage;
}

/** A button that opens the list. Nothing is read before it is opened. */
export function SavedViews({ page }: SavedViewsProps) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        className="inline-flex h-8 shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border border-line-strong bg-surface px-2.5 font-medium text-table hover:bg-hover max-md:h-11"
      >
        <Bookmark aria-hidden="true" className="size-3.5" />
        Views
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label="Saved views"
        onToggle={(event) => {
          setOpen(event.newState === "open");
          if (event.newState === "open") placeUnder(panel.current);
        }}
        className="fixed inset-auto m-0 max-h-[70dvh] w-80 max-w-[calc(100vw-2rem)] overflow-y-auto rounded-lg border border-line bg-surface p-3 text-fg shadow-overlay"
      >
        {open ? <OpenViews page={page} onLeave={() => panel.current?.hidePopover()} /> : null}
      </div>
    </>
  );
}

function OpenViews({ page, onLeave }: { page: SavedViewPage; onLeave: () => void }) {
  const query = useSavedViews(page, true);
  const client = useQueryClient();
  const toast = useToast();
  const present = useSearchParams().toString();
  const again = () => client.invalidateQueries({ queryKey: ["once", `${SAVED_VIEWS_PATH}?page=${page}`] });

  async function save(name: string, shared: boolean, filters: string) {
    await postJson(SAVED_VIEWS_PATH, { page, name, query: filters, shared });
    await again();
    toast(`View "${name}" saved${shared ? " and shared" : ""}.`);
  }

  async function remove(view: SavedView) {
    try {
      await deleteJson(`${SAVED_VIEWS_PATH}/${view.id}`);
      await again();
      toast(`View "${view.name}" deleted.`);
    } catch (error) {
      toast(failureWords(error), { tone: "danger" });
    }
  }

  if (query.data === undefined && query.error !== null) {
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} compact />;
  }
  return (
    <div className="grid gap-3">
      <List page={page} views={query.data ?? null} onOpen={onLeave} onRemove={(view) => void remove(view)} />
      <SaveViewForm onSave={(name, shared) => save(name, shared, present)} />
    </div>
  );
}

interface ListProps {
  page: SavedViewPage;
  /** Null while they are read. */
  views: Views | null;
  onOpen: () => void;
  onRemove: (view: SavedView) => void;
}

function List({ page, views, onOpen, onRemove }: ListProps) {
  if (views === null) return <p className="text-faint text-table">Reading views</p>;
  if (views.views.length === 0) {
    return (
      <p className="text-muted text-table">No view of this page yet. Set the filters and save them here.</p>
    );
  }
  return (
    <>
      <ul aria-label="Views" className="grid gap-0.5">
        {views.views.map((view, index) => (
          <li key={view.id} className="flex items-center gap-1">
            <Link
              href={view.query === "" ? `/${page}` : `/${page}?${view.query}`}
              prefetch={false}
              onClick={onOpen}
              className="flex min-h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-table hover:bg-hover max-md:min-h-11"
            >
              <span className="truncate">{view.name}</span>
              <span className="ml-auto shrink-0 text-axis text-faint">
                {whose(view)}
                {page === "deliveries" && index < MAX_COUNTED ? <ViewCount query={view.query} /> : null}
              </span>
            </Link>
            {view.own ? (
              <IconButton label={`Delete view ${view.name}`} size="small" onClick={() => onRemove(view)}>
                <Trash2 aria-hidden="true" className="size-3.5" />
              </IconButton>
            ) : null}
          </li>
        ))}
      </ul>
      <p className="text-axis text-faint">
        {views.own} of {views.max} views are yours.
      </p>
    </>
  );
}

/** Views whose rows are counted when the list is opened. */
const MAX_COUNTED = 10;

/** How many rows the view has now; nothing while that is not known. */
function ViewCount({ query }: { query: string }) {
  const params = new URLSearchParams(query);
  const region = useListRegion(null);
  if (!params.has("region")) params.set("region", region);
  params.set("limit", "1");
  const total = useViewCount(params.toString());
  if (total === null) return null;
  return (
    <span className="ml-2">
      {formatCount(total.count)}
      {total.atLeast ? "+" : ""}
    </span>
  );
}

function whose({ own, shared, by }: SavedView): string {
  if (!own) return `by ${by}`;
  return shared ? "shared" : "";
}

const GAP_PX = 4;
const EDGE_PX = 16;

/** Under its button, and never over the edge of the window. */
function placeUnder(panel: HTMLElement | null): void {
  const box = panel?.previousElementSibling?.getBoundingClientRect();
  if (panel === null || box === undefined) return;
  const left = Math.min(box.left, window.innerWidth - panel.offsetWidth - EDGE_PX);
  const top = Math.min(box.bottom + GAP_PX, window.innerHeight - panel.offsetHeight - EDGE_PX);
  panel.style.left = `${Math.max(EDGE_PX, left)}px`;
  panel.style.top = `${Math.max(EDGE_PX, top)}px`;
}
