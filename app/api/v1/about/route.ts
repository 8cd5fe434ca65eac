/** GET /api/v1/about: which build and schema this is, and what it was configured with, without a secret. */

import { readAbout } from "../../../about.ts";
import { answer, parseQuery } from "../../answer.ts";
import { noQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    parseQuery(noQuery, request);
    return readAbout(scope);
  });
}
