/** POST /api/v1/deliveries/{id}/cancel: ends a waiting delivery without sending it. */

import { command } from "../../../../command.ts";
import { COMMANDS } from "../../../../command-routes.ts";

export const dynamic = "force-dynamic";

export function POST(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  return command(request, context, COMMANDS.deliveryCancel);
}
