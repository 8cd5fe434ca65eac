/** GET /api/v1/dead-letter-groups/{id}/assignees: the people who can be named for a cause, because they may see it. */

import { allowOnly } from "../../../../allow-only.ts";
import { answer, parseQuery } from "../../../../answer.ts";
import { readAssignees } from "../../../../dead-letters-commands.ts";
import { oneOfRegionQuery } from "../../../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "dead_letter_triage", async (caller) =>
    readAssignees(caller, parseQuery(oneOfRegionQuery, request).region, (await params).id),
  );
}
