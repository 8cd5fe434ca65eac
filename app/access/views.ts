/** Saved views of the signed-in person, over HTTP. Programs have none. */
import "server-only";
import type { z } from "zod";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { addSavedView, deleteSavedView, listSavedViews, type SavedViews } from "#db/console/saved-views.ts";
import { type SavedViewPage, viewContent } from "#domain/saved-view.ts";
import type { Caller } from "../api/answer.ts";
import type { savedViewBody } from "../api/shell-schemas.ts";
import { personOf } from "./people.ts";

/** Own ones and those that are shared within the caller's scope. */
export async function readViews(caller: Caller, page: SavedViewPage): Promise<SavedViews> {
  const email = personOf(caller);
  return withAccounts(() => listSavedViews(consoleDatabase().pool, email, caller.scope, page));
}

/** @throws SluiceError `invalid_body`, `state_conflict` when the name is taken or the limit reached */
export async function saveView(
  caller: Caller,
  { page, name, query, shared }: z.infer<typeof savedViewBody>,
): Promise<{ id: string }> {
  const email = personOf(caller);
  const view = { ...viewContent(name, query), page, shared };
  return withAccounts(async () => ({ id: await addSavedView(consoleDatabase().pool, email, view) }));
}

/** @throws SluiceError `bad_id`, `not_found` for one that is not the caller's own */
export async function removeView(caller: Caller, id: string): Promise<{ id: string }> {
  const email = personOf(caller);
  return withAccounts(() => deleteSavedView(consoleDatabase().pool, email, id));
}
