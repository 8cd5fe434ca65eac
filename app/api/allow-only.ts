/**
 * What a route answers for the methods that it does not have: a problem with the ones that it has in `Allow`, where Next
 * would answer an empty 405. It asks for no credential and looks at nothing, for which methods there are is public
 * (openapi.json). It must never stand in the place of a method that a route has: the names come from the route itself.
 */
import "server-only";
import { correlationIdOf, problem } from "./answer.ts";

export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const;
type Method = (typeof METHODS)[number];
/** Next answers HEAD by a route's GET. */
type Other<Own extends Method> = Exclude<Method, Own | ("GET" extends Own ? "HEAD" : never)>;
type Handler = (request: Request) => Response;

/** The handlers of every method beside those that are named, for a route to export. OPTIONS is 204, the rest 405. */
export function allowOnly<Own extends Method>(...own: readonly Own[]): Readonly<Record<Other<Own>, Handler>> {
  const has = new Set<Method>([...own, "OPTIONS"]);
  if (has.has("GET")) has.add("HEAD");
  const allow = METHODS.filter((method) => has.has(method)).join(", ");
  const refuse: Handler = (request) => {
    const detail = `${request.method} is not a method of this resource. It has ${allow}.`;
    const response = problem("method_not_allowed", detail, correlationIdOf(request));
    response.headers.set("allow", allow);
    return response;
  };
  const others = METHODS.filter((method) => !has.has(method)).map((method) => [method, refuse] as const);
  const options: Handler = () => new Response(null, { status: 204, headers: { allow } });
  return Object.fromEntries([...others, ["OPTIONS", options]]) as Record<Other<Own>, Handler>;
}
