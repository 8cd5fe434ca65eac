/** POST /api/auth/sign-in/email, /sign-in/oidc, /sign-out, and the identity provider's callback. */

import { handleAuth } from "../../../access/handle-auth.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Promise<Response> {
  return handleAuth(request);
}

export function POST(request: Request): Promise<Response> {
  return handleAuth(request);
}
