/**
 * Refuses what another site's page makes a browser send. A session cookie proves who somebody is, not that they meant
 * it; the browser's own headers say from where a request came, and no page can write them.
 */
import "server-only";
import { SluiceError } from "#domain/errors.ts";

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Checks one request of the API. A program sends neither header and is let through only with a token: `ambient` is true
 * for credentials that a browser adds by itself.
 * @throws SluiceError `cross_site`
 */
export function refuseCrossSite(
  request: { method: string; headers: Headers },
  origins: readonly string[],
  ambient: boolean,
): void {
  const site = request.headers.get("sec-fetch-site");
  if (site === "cross-site") throw crossSite("another site");
  if (SAFE_METHODS.has(request.method)) return;
  if (site !== null && site !== "same-origin" && site !== "none") throw crossSite("a neighbouring site");
  const origin = request.headers.get("origin");
  if (origin !== null && !origins.includes(origin)) throw crossSite(origin.slice(0, 100));
  if (ambient && origin === null && site === null) {
    throw new SluiceError(
      "cross_site",
      "The request does not say from which page it comes (no Origin header).",
    );
  }
}

function crossSite(from: string): SluiceError {
  return new SluiceError("cross_site", `The request comes from ${from}, not from the console.`);
}
