/** DELETE /api/v1/tokens/{id}: ends a service token at once. */

import { endToken } from "../../../../access/tokens.ts";
import { allowOnly } from "../../../allow-only.ts";
import { change } from "../../../change.ts";
import { reasonBody } from "../../../token-schemas.ts";

export const dynamic = "force-dynamic";
export const { GET, HEAD, OPTIONS, PATCH, POST, PUT } = allowOnly("DELETE");

export function DELETE(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return change(request, { action: "service_tokens", body: reasonBody }, async (caller, { reason }) =>
    endToken(caller, (await context.params).id, reason),
  );
}
