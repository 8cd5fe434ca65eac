/** POST /api/v1/dead-letter-groups/{id}/note: what the next person should know. */

import { allowOnly } from "../../../../allow-only.ts";
import { command } from "../../../../command.ts";
import { GROUP_COMMANDS } from "../../../../dead-letters-commands.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, GROUP_COMMANDS.note);
}
