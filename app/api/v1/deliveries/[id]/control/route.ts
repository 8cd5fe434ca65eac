/** GET /api/v1/deliveries/{id}/control: what may be done with one delivery, and what the caller may do. */

import { readDeliveryControlView } from "#db/console/read-delivery-control.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { answer, parseQuery } from "../../../../answer.ts";
import { commandQuery } from "../../../../command-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) => {
    const { region } = parseQuery(commandQuery, request);
    return readDeliveryControlView(scope, principal.grants, { region, id: (await context.params).id });
  });
}
