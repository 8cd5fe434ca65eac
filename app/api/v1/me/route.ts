/** GET /api/v1/me: who the caller is, with roles, regions and allowed actions. */

import { profileOf } from "../../../access/profile.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { noQuery } from "../../schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ principal }) => {
    parseQuery(noQuery, request);
    return profileOf(principal);
  });
}
