/** Where to go after a sign-in: a path of the console, never another site. */

const MAX_CHARS = 2_000;
const BASE = "http://console.invalid";

/** The path when it is one of ours, else the overview. */
export function safeNext(next: string | null): string {
  if (next === null || next.length > MAX_CHARS || !next.startsWith("/") || /[\\\p{Cc}]/u.test(next))
    return "/";
  if (!URL.canParse(next, BASE)) return "/";
  const url = new URL(next, BASE);
  const inside =
    url.origin === BASE && !url.pathname.startsWith("//") && !/^\/(login|api)(\/|$)/.test(url.pathname);
  return inside ? `${url.pathname}${url.search}${url.hash}` : "/";
}
