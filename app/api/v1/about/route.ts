/** GET /api/v1/about: which build and schema this is, and what it was configured with, without a secret. */

import { readAbout } from "../../../about.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { noQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    parseQuery(noQuery, request);
    return readAbout(scope);
  });
}
