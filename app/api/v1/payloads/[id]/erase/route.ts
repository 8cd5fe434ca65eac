/** POST /api/v1/payloads/{id}/erase: erases a body for good. */

import { command } from "../../../../command.ts";
import { COMMANDS } from "../../../../command-routes.ts";

export const dynamic = "force-dynamic";

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, COMMANDS.payloadErase);
}
