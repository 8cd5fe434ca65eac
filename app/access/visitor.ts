/** Who opens a page. A page holds no data of its own; this decides only whether there is a frame to show or a sign-in. */
import "server-only";
import { headers } from "next/headers";
import { isSluiceError } from "#domain/errors.ts";
import { type Principal, readPrincipal } from "./principal.ts";

export type Visitor =
  | { kind: "in"; principal: Principal }
  | { kind: "no_role"; principal: Principal }
  | {
      kind: "out" /** True when the browser still carries a session that no longer counts. */;
      expired: boolean;
    }
  | { kind: "unavailable" };

/** The page's address as proxy.ts wrote it down. */
export async function pagePath(): Promise<string> {
  return (await headers()).get("x-sluice-path") ?? "/";
}

export async function readVisitor(): Promise<Visitor> {
  const given = new Headers(await headers());
  try {
    // A page is for people: a token in a header opens none.
    given.delete("authorization");
    const principal = await readPrincipal(given);
    if (principal === null)
      return { kind: "out", expired: /sluice\.session_token=/.test(given.get("cookie") ?? "") };
    return { kind: principal.grants.length === 0 ? "no_role" : "in", principal };
  } catch (error) {
    if (isSluiceError(error, "sign_in_unavailable")) return { kind: "unavailable" };
    throw error;
  }
}
