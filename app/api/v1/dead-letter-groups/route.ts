/** GET /api/v1/dead-letter-groups: one region's dead letters by cause. */

import { listDeadLetterGroups } from "#db/console/list-dead-letter-groups.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { deadLetterGroupsQuery } from "../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listDeadLetterGroups(scope, parseQuery(deadLetterGroupsQuery, request)),
  );
}
