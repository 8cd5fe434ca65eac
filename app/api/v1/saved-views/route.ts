/** GET and POST /api/v1/saved-views: the filters of a list under a name, one's own and shared ones. */

import { readViews, saveView } from "../../../access/views.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { change } from "../../change.ts";
import { savedViewBody, savedViewsQuery } from "../../shell-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async (caller) =>
    readViews(caller, parseQuery(savedViewsQuery, request).page),
  );
}

export function POST(request: Request): Promise<Response> {
  return change(request, { action: "read", body: savedViewBody, status: 201 }, saveView);
}
