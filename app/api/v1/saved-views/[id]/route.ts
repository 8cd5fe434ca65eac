/** DELETE /api/v1/saved-views/{id}: takes one's own view away. */

import { removeView } from "../../../../access/views.ts";
import { allowOnly } from "../../../allow-only.ts";
import { change } from "../../../change.ts";

export const dynamic = "force-dynamic";
export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = allowOnly("DELETE");

export function DELETE(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return change(request, { action: "read", body: null }, async (caller) =>
    removeView(caller, (await context.params).id),
  );
}
