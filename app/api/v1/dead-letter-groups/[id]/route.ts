/** GET /api/v1/dead-letter-groups/{id}: one cause, its newest entries, and what was done about it. */

import { readDeadLetterGroup } from "#db/console/read-dead-letter-group.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { oneOfRegionQuery } from "../../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) => {
    const { region } = parseQuery(oneOfRegionQuery, request);
    return readDeadLetterGroup(scope, principal.grants, { region, id: (await params).id });
  });
}
