/** POST /api/v1/regions/{id}/start-claims: starts a region's claims again. */

import { command } from "../../../../command.ts";
import { COMMANDS } from "../../../../command-routes.ts";

export const dynamic = "force-dynamic";

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, COMMANDS.regionStartClaims);
}
