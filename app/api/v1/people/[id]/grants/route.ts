/** POST /api/v1/people/{id}/grants: gives a person a role in a scope, never further than the giver's own. */

import { giveGrant } from "../../../../../access/people.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { change } from "../../../../change.ts";
import { grantBody } from "../../../../shell-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return change(request, { action: "access", body: grantBody, status: 201 }, async (caller, body) =>
    giveGrant(caller, (await context.params).id, body),
  );
}
