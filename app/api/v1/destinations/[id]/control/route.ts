/** GET /api/v1/destinations/{id}/control: what a destination's controls stand at, and what the caller may do. */

import { readDestinationControlView } from "#db/console/read-destination-control.ts";
import { allowOnly } from "../../../../allow-only.ts";
import { answer, parseQuery } from "../../../../answer.ts";
import { commandQuery } from "../../../../command-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) => {
    const { region } = parseQuery(commandQuery, request);
    return readDestinationControlView(scope, principal.grants, { region, id: (await context.params).id });
  });
}
