/** GET /api/v1/people: who may do what, for administrators; nothing of what reaches further than they do. */

import { readPeople } from "../../../access/people.ts";
import { answer, parseQuery } from "../../answer.ts";
import { noQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "access", async (caller) => {
    parseQuery(noQuery, request);
    return readPeople(caller);
  });
}
