/** POST /api/v1/regions/{id}/defaults: sets what rows of a region inherit. */

import { command } from "../../../../command.ts";
import { COMMANDS } from "../../../../command-routes.ts";

export const dynamic = "force-dynamic";

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, COMMANDS.regionDefaults);
}
