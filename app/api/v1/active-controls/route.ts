/** GET /api/v1/active-controls: what is held on purpose at this moment, for the banners of every page. */

import { readActiveControls } from "#db/console/list-active-controls.ts";
import { answer, parseQuery } from "../../answer.ts";
import { activeControlsQuery } from "../../shell-schemas.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return answer(request, "read", async ({ scope }) =>
    readActiveControls(scope, parseQuery(activeControlsQuery, request).region),
  );
}
