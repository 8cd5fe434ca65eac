/** POST /api/v1/replays/preview: what a selection means now. Writes nothing. */

import { allowOnly } from "../../../allow-only.ts";
import { preview } from "../../../replay-draft.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request): Promise<Response> {
  return preview(request);
}
