/**
 * The reference receiving endpoint of the demo's customers, at /demo/support/<region>/<dst_...>: an edge without a thought
 * of its own. Off unless SLUICE_DEMO_ENDPOINT is on. Every method comes here, so that a refusal has its Allow header.
 */
import type { EndpointAddress } from "#demo/support/inbox/endpoints.ts";
import { consoleInbox } from "#demo/support/inbox/open-inbox.ts";

export const dynamic = "force-dynamic";

async function handle(request: Request, context: { params: Promise<EndpointAddress> }): Promise<Response> {
  return consoleInbox(request, await context.params);
}

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
