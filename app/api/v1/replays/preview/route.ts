/** POST /api/v1/replays/preview: what a selection means now. Writes nothing. */

import { preview } from "../../../replay-draft.ts";

export const dynamic = "force-dynamic";

export function POST(request: Request): Promise<Response> {
  return preview(request);
}
