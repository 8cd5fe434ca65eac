/**
 * GET /api/v1/people: who may do what, for administrators; nothing of what reaches further than they do. POST: one more
 * person, without any grant; the password of a local account is in this answer and nowhere else.
 */

import { invitePerson, readPeople } from "../../../access/people.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { change } from "../../change.ts";
import { noQuery } from "../../schemas.ts";
import { personBody } from "../../shell-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "access", async (caller) => {
    parseQuery(noQuery, request);
    return readPeople(caller);
  });
}

export function POST(request: Request): Promise<Response> {
  return change(request, { action: "access", body: personBody, status: 201 }, invitePerson);
}
