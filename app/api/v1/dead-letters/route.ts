/** GET /api/v1/dead-letters: one page of one region's dead letters. */

import { listDeadLetters } from "#db/console/list-dead-letters.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { deadLettersQuery } from "../../dead-letters-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listDeadLetters(scope, parseQuery(deadLettersQuery, request)),
  );
}
