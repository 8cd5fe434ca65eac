/**
 * Gives every page a fresh nonce and a policy that runs only scripts which carry it, and tells the page its own address,
 * so that a sign-in can lead back to it. It decides nothing about who may see what: every handler and every page checks
 * by itself, because whoever gets past this file must find the same locked doors. Of the API it sees only paths that no
 * handler could, and answers them as the API would.
 */
import { type NextRequest, NextResponse } from "next/server";
import { isRequestId, PROBLEM_CONTENT_TYPE, problemBody } from "#domain/problem.ts";

/** Styles stay open: charts and tooltips place themselves by style attributes, which no nonce can stand for. */
function policyWith(nonce: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** As a person would write it: without the parameter by which Next asks for a page's data. */
function pagePath({ pathname, searchParams }: URL): string {
  const query = new URLSearchParams(searchParams);
  query.delete("_rsc");
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

/** Next decodes a path before it looks for its handler, and would answer one that cannot be decoded with a page. */
function refuseBrokenPath({ nextUrl, headers }: NextRequest): NextResponse {
  try {
    decodeURIComponent(nextUrl.pathname);
    return NextResponse.next();
  } catch {
    const given = headers.get("x-request-id");
    const correlationId = isRequestId(given) ? given : crypto.randomUUID();
    const detail = "A percent sign of the path stands for no character. Send an id as it was given to you.";
    return new NextResponse(JSON.stringify(problemBody("bad_path", detail, correlationId)), {
      status: 400,
      headers: {
        "content-type": `${PROBLEM_CONTENT_TYPE}; charset=utf-8`,
        "cache-control": "no-store",
        "x-request-id": correlationId,
      },
    });
  }
}

export function proxy(request: NextRequest): NextResponse {
  if (request.nextUrl.pathname.startsWith("/api/")) return refuseBrokenPath(request);
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
  const policy = policyWith(nonce);
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set("content-security-policy", policy);
  headers.set("x-sluice-path", pagePath(request.nextUrl));
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  return response;
}

export const config = {
  // Pages only: an API answer and a static file run no script, and a request with a body would be read here as a whole
  // before its handler could refuse it. So of the API only paths in which a percent sign begins no ASCII character: all
  // that cannot be decoded are among them, and no path of an id is.
  matcher: [
    "/((?!api/|demo/|_next/static|_next/image|healthz|readyz|metrics|openapi\\.json|icon.svg).*)",
    "/api/(.*%(?![0-7][0-9A-Fa-f]).*)",
  ],
};
