/** GET /api/v1/deliveries: one page of one region's deliveries. POST: writes deliveries for programs. */

import { listDeliveries } from "#db/console/list-deliveries.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { deliveriesQuery } from "../../deliveries-schemas.ts";
import { enqueue } from "../../enqueue.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, PUT } = allowOnly("GET", "POST");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    listDeliveries(scope, parseQuery(deliveriesQuery, request)),
  );
}

export function POST(request: Request): Promise<Response> {
  return enqueue(request);
}
