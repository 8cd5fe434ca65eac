/** GET /api/v1/active-controls: what is held on purpose at this moment and what waits for the caller, for every page. */

import { readActiveControls } from "#db/console/list-active-controls.ts";
import { allowOnly } from "../../allow-only.ts";
import { answer, parseQuery } from "../../answer.ts";
import { activeControlsQuery } from "../../shell-schemas.ts";

export const dynamic = "force-dynamic";
export const { DELETE, OPTIONS, PATCH, POST, PUT } = allowOnly("GET");

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope, principal }) =>
    readActiveControls(scope, parseQuery(activeControlsQuery, request).region, principal),
  );
}
