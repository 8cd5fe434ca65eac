/** POST /api/v1/deliveries/{id}/reveal: a payload or a response body, for who may see it; each view is audited. */

import { revealBody as reveal } from "#db/console/reveal-body.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { parseQuery } from "../../../../answer.ts";
import { change } from "../../../../change.ts";
import { revealBody, revealQuery } from "../../../../deliveries-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return change(request, { action: "reveal_body", body: revealBody }, async (caller, body) => {
    const { principal, correlationId } = caller;
    const { region } = parseQuery(revealQuery, request);
    const by = { actor: principal.actor, grants: principal.grants, correlationId };
    return reveal(by, { region, deliveryId: (await context.params).id, ...body });
  });
}
