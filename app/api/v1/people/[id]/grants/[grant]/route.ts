/** DELETE /api/v1/people/{id}/grants/{grant}: takes one grant away; it ends with the person's next request. */

import { takeGrant } from "../../../../../../access/people.ts";
import { allowOnly } from "../../../../../allow-only.ts";
import { change } from "../../../../../change.ts";
import { reasonBody } from "../../../../../token-schemas.ts";

export const dynamic = "force-dynamic";
export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = allowOnly("DELETE");

interface Context {
  params: Promise<{ id: string; grant: string }>;
}

export function DELETE(request: Request, context: Context): Promise<Response> {
  return change(request, { action: "access", body: reasonBody }, async (caller, { reason }) => {
    const { id, grant } = await context.params;
    return takeGrant(caller, { personId: id, grantId: grant, reason });
  });
}
