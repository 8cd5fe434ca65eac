/** POST /api/v1/people/{id}/enable: lets them sign in again, with the grants that they still have. */

import { setPersonAble } from "../../../../../access/people.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { change } from "../../../../change.ts";
import { reasonBody } from "../../../../token-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return change(request, { action: "access", body: reasonBody }, async (caller, { reason }) =>
    setPersonAble(caller, { personId: (await context.params).id, verb: "enable", reason }),
  );
}
