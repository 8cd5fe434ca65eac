/** POST /api/v1/policies/retry?region=: the next version of the retry policy of a class in a region. */

import { allowOnly } from "../../../allow-only.ts";
import { POLICY_COMMANDS, writePolicy } from "../../../policies.ts";

export const dynamic = "force-dynamic";
export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = allowOnly("POST");

export function POST(request: Request): Promise<Response> {
  return writePolicy(request, POLICY_COMMANDS.retry);
}
