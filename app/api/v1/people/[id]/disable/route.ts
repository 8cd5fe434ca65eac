/** POST /api/v1/people/{id}/disable: ends their sessions and serves no request of theirs; their grants stay. */

import { setPersonAble } from "../../../../../access/people.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { change } from "../../../../change.ts";
import { reasonBody } from "../../../../token-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return change(request, { action: "access", body: reasonBody }, async (caller, { reason }) =>
    setPersonAble(caller, { personId: (await context.params).id, verb: "disable", reason }),
  );
}
