/** POST /api/v1/payloads/{id}/lift-restriction: gives a restricted body back. */

import { command } from "../../../../command.ts";
import { COMMANDS } from "../../../../command-routes.ts";

export const dynamic = "force-dynamic";

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, COMMANDS.payloadLiftRestriction);
}
