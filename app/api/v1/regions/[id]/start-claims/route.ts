/** POST /api/v1/regions/{id}/start-claims: starts a region's claims again. */

import { allowOnly } from "../../../../allow-only.ts";
import { command } from "../../../../command.ts";
import { COMMANDS } from "../../../../command-routes.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, COMMANDS.regionStartClaims);
}
