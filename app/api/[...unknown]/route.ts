/** Any other path under /api: a problem, so that a caller never gets a page of HTML. */

import { SluiceError } from "#domain/errors.ts";
import { answer } from "../answer.ts";

export const dynamic = "force-dynamic";

function refuse(request: Request): Promise<Response> {
  return answer(request, "read", async () => {
    throw new SluiceError("not_found", `There is no resource ${new URL(request.url).pathname}.`);
  });
}

export { refuse as DELETE, refuse as GET, refuse as PATCH, refuse as POST, refuse as PUT };
