/**
 * A destination's URL as staff may see it: scheme, host and port, and how many parts the path has. Pure. Customers put
 * secrets into path and query, so not one character of either may stand in the result.
 */

/** Parts of a path that are drawn; the rest is one mark. */
const MAX_PARTS = 4;
const MARK = "•••";

export interface MaskedUrl {
  /** "hooks.example.com:8443"; "unknown" for text that is no URL. */
  readonly host: string;
  /** "https://hooks.example.com:8443/•••/•••?•••" */
  readonly masked: string;
}

/** Never throws: a row with an unusable URL is shown as such. */
export function maskUrl(url: string | null): MaskedUrl {
  if (url === null || !URL.canParse(url)) return { host: "unknown", masked: "unknown" };
  const { protocol, host, pathname, search } = new URL(url);
  const parts = pathname.split("/").filter((part) => part !== "").length;
  const path = `/${MARK}`.repeat(Math.min(parts, MAX_PARTS));
  return { host, masked: `${protocol}//${host}${path}${search === "" ? "" : `?${MARK}`}` };
}
