/** GET /openapi.json: how to call the API, as OpenAPI 3.1. It holds no data of anybody, so it needs no sign-in. */

import { openApiResponse } from "../api/openapi/document.ts";

export const dynamic = "force-dynamic";

export function GET(request: Request): Response {
  return openApiResponse(request);
}
