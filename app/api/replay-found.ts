/** A batch that is not there or outside the scope is 404, the same in both cases. */
import "server-only";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { SluiceError } from "#domain/errors.ts";
import { answer } from "./answer.ts";

/** @throws SluiceError `not_found` */
export function found<T>(given: RegionAnswer<T | null>): RegionAnswer<T> {
  if (given.status !== "ok") return given;
  if (given.data === null) throw new SluiceError("not_found", "There is no such batch in your scope.");
  return { ...given, data: given.data };
}

/** Only for who is signed in, like every other address. */
export function unknownVerb(request: Request): Promise<Response> {
  return answer(request, "read", async () => {
    throw new SluiceError("not_found", "There is no such command.");
  });
}
