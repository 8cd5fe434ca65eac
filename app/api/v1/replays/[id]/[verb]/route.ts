/** POST /api/v1/replays/{id}/{verb}: every command about a batch; the verbs stand in app/api/replay-commands.ts. */

import { allowOnly } from "../../../../allow-only.ts";
import { command } from "../../../../command.ts";
import { isReplayVerb, REPLAY_COMMANDS } from "../../../../replay-commands.ts";
import { unknownVerb } from "../../../../replay-found.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

interface Context {
  params: Promise<{ id: string; verb: string }>;
}

export async function POST(request: Request, context: Context): Promise<Response> {
  const { verb } = await context.params;
  return isReplayVerb(verb) ? command(request, context, REPLAY_COMMANDS[verb]) : unknownVerb(request);
}
