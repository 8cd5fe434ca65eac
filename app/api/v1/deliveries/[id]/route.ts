/** GET /api/v1/deliveries/{id}: one delivery with its attempts and what blocks it now. */

import { readDelivery } from "#db/console/read-delivery.ts";
import { allowOnly } from "../../../allow-only.ts";
import { answer, parseQuery } from "../../../answer.ts";
import { noQuery } from "../../../schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return answer(request, "read", async ({ scope }) => {
    parseQuery(noQuery, request);
    return readDelivery(scope, (await context.params).id);
  });
}
