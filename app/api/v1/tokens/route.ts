/** GET and POST /api/v1/tokens: service tokens. A new one is in the answer of its POST and nowhere else. */

import { addToken, readTokens } from "../../../access/tokens.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { change } from "../../change.ts";
import { noQuery } from "../../schemas.ts";
import { tokenBody } from "../../token-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "service_tokens", async (caller) => {
    parseQuery(noQuery, request);
    return readTokens(caller);
  });
}

export function POST(request: Request): Promise<Response> {
  return change(request, { action: "service_tokens", body: tokenBody, status: 201 }, addToken);
}
